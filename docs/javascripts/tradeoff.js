// Moves the figure of the page "Which epsilon?". Every number comes with the page; nothing is fetched.
(() => {
  const source = document.getElementById("tradeoff-numbers");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const { left, right, top, bottom, least, most } = data.box;
  const part = (name) => document.getElementById(`tradeoff-${name}`);
  const percent = (share, digits) => `${(100 * share).toFixed(digits)}%`;
  const error = (half) => percent(half, half < 0.001 ? 3 : half < 0.1 ? 2 : 1);
  const log = Math.log10;
  const across = (epsilon) => {
    const [first, last] = [data.epsilons[0], data.epsilons.at(-1)].map(log);
    return left + ((log(epsilon) - first) / (last - first)) * (right - left);
  };
  const up = (half) => {
    const clipped = Math.min(Math.max(half, least), most);
    return bottom - ((log(clipped) - log(least)) / (log(most) - log(least))) * (bottom - top);
  };

  function show() {
    const place = Number(part("epsilon").value);
    const epsilon = data.epsilons[place];
    const people = data.people[part("people").value];
    const size = data.sizes[part("size").value];
    const halves = data.half[size].map((half) => half / Math.sqrt(people));
    const points = halves.map((half, at) => `${across(data.epsilons[at]).toFixed(1)},${up(half).toFixed(1)}`);
    part("curve").setAttribute("points", points.join(" "));
    const [x, y] = points[place].split(",");
    part("point").setAttribute("cx", x);
    part("point").setAttribute("cy", y);
    const shown = { epsilon: String(epsilon), people: people.toLocaleString("en"), size: String(size) };
    for (const [name, words] of Object.entries(shown)) {
      part(`${name}-shown`).textContent = words;
      part(name).setAttribute("aria-valuetext", words);
    }
    const [half, sure] = [halves[place], data.sure[place]];
    const known = half < 1 ? `a share is known to ±${error(half)} (${data.oracle[size][place]}).`
      : "a share is not known at all: the interval is everything.";
    part("said").textContent =
      `With epsilon ${shown.epsilon}, ${shown.people} people and ${size} values, ${known} ` +
      `Whatever a report says, a suspicion of 50% grows to at most ${sure[0]}, ` +
      `and one of 1% to at most ${sure[1]}.`;
  }

  part("sliders").hidden = false;
  for (const name of ["epsilon", "people", "size"]) part(name).addEventListener("input", show);
  show();
})();
