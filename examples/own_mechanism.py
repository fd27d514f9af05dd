"""Try your own mechanism in a few lines.

"For star ratings a near miss is less bad than a far one. I want to test that idea against the known
mechanisms." Write down how likely each report is; the package does the rest.
It also shows that this idea spends only half of the epsilon that it states, and that GRR has less error.

Figure: How likely each reported rating is for each true one; nearby ratings are more likely.
Guide: guide/add-protocol.md
"""

import matplotlib.pyplot as plt
import numpy as np

import ldpkit


@ldpkit.register
class Stars(ldpkit.MatrixMechanism):
    """Randomised response for ratings: a near miss is likelier than a far one."""

    name, title, citation = "stars", "Randomised response for ratings", "this gallery"

    def matrix(self) -> np.ndarray:
        """Return how likely each report is, by row the true rating."""
        stars = np.arange(self.size)
        apart = abs(stars[:, None] - stars) / (self.size - 1)
        return np.asarray(np.exp(self.epsilon / 2 * (1 - apart)))  # half: the sums of rows differ


ratings = ldpkit.get("stars", [1, 2, 3, 4, 5], epsilon=2.0)
print(f"stated epsilon {ratings.epsilon:g}, exact {ratings.exact_epsilon():.6f}")
print(ldpkit.testing.check_mechanism("stars", only=("channels", "samplers", "wire_form")))
found = ldpkit.bench.frequencies([500, 900, 2100, 4000, 2500], ["stars", "grr"], epsilon=2, seed=1)
print("least mean absolute error:", found.summary().best_in_words())

figure, axes = plt.subplots(figsize=(5.5, 4.5), layout="constrained")
chances = np.array(ratings.channel().probabilities, dtype=float)
axes.imshow(chances, cmap="Blues", vmin=0, vmax=0.6)
for true, said in np.ndindex(chances.shape):
    axes.text(said, true, f"{chances[true, said]:.0%}", ha="center", va="center", color="#0b0b0b")
axes.set_xticks(range(5), list("12345"))
axes.set_yticks(range(5), list("12345"))
axes.set(xlabel="reported stars", ylabel="true stars", title="how likely each report is, epsilon 2")
figure.savefig("own_mechanism.png")
