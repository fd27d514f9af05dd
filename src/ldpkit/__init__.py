"""ldpkit collects statistics from people without ever holding their data: local differential privacy.

Choose a mechanism and a budget, privatize on the device, collect, estimate with error bars, audit a promise.

Examples
--------
>>> import ldpkit
>>> oracle = ldpkit.OLH(["walk", "bike", "bus", "car"], epsilon=1.0)
>>> reports = oracle.privatize(["bus", "bike", "bus", "walk"] * 25_000)
>>> estimate = oracle.tally(reports).estimate()
>>> abs(estimate["bus"] - 0.5) < 0.1
True
"""

# Nothing is imported here, not even __future__: this runs before the command line listens for Ctrl-C.

__version__ = "0.2.0"

TYPE_CHECKING = False  # typing itself would take longer to load than all else that starts a command
if TYPE_CHECKING:
    import ldpkit.bench as bench
    import ldpkit.testing as testing
    from ldpkit.assurance.adversary.compare import Risks, risk
    from ldpkit.assurance.adversary.risk_record import Risk
    from ldpkit.assurance.audit.audit import audit
    from ldpkit.assurance.audit.record import Audit
    from ldpkit.assurance.classifier.blackbox import RobustBox, robust_box
    from ldpkit.assurance.classifier.certified import CertifiedBox, certified_box
    from ldpkit.assurance.classifier.columns import Clipped, NearestPoint, Withheld
    from ldpkit.assurance.classifier.corrected import Corrected, label_response
    from ldpkit.assurance.classifier.mixture import mixture_utility
    from ldpkit.assurance.classifier.prior import prior_from_reports
    from ldpkit.assurance.classifier.utility import Utilities, utility
    from ldpkit.assurance.exposure import Exposure, expose
    from ldpkit.assurance.joint import guarantee
    from ldpkit.bench.benchmark import Benchmark
    from ldpkit.client.client import Client
    from ldpkit.client.collection import Collection
    from ldpkit.client.store import DeviceStore
    from ldpkit.collector.remote import Collector
    from ldpkit.core import errors, random
    from ldpkit.core.domains.categorical import CategoricalDomain
    from ldpkit.core.domains.cellgrid import CellGrid
    from ldpkit.core.domains.circle import CircleDomain, WrappedWarning
    from ldpkit.core.domains.interval import ClippedWarning, IntervalDomain
    from ldpkit.core.domains.plane import PlaneDomain
    from ldpkit.core.domains.polygons import Polygon
    from ldpkit.core.domains.projection import Projection
    from ldpkit.core.domains.regions import Disc, Parallelogram, Rectangle
    from ldpkit.core.domains.trajectories import Trajectories
    from ldpkit.core.errors import LdpkitError
    from ldpkit.core.parameters import Parameter
    from ldpkit.core.provenance import Provenance
    from ldpkit.core.registry import load_plugin
    from ldpkit.core.results import Result
    from ldpkit.estimation.circular_density import CircularDensity
    from ldpkit.estimation.density import Density, Quantile
    from ldpkit.estimation.direction import DirectionEstimate
    from ldpkit.estimation.estimate import Estimate
    from ldpkit.estimation.evidence import Evidence
    from ldpkit.estimation.heatmap import HeatMap
    from ldpkit.estimation.hotspots import Hotspots, hotspots
    from ldpkit.estimation.identified import UnidentifiedWarning
    from ldpkit.estimation.numeric import NumericEstimate
    from ldpkit.estimation.origin_destination import OriginDestination, origin_destination
    from ldpkit.estimation.remap import remap
    from ldpkit.files.reportfile import ReportFile, ReportWriter, tally_file
    from ldpkit.mechanisms.adaptive.mechanism import AAA
    from ldpkit.mechanisms.base import Mechanism, register
    from ldpkit.mechanisms.categorical.exponential import Exponential
    from ldpkit.mechanisms.categorical.grr import GRR
    from ldpkit.mechanisms.categorical.hashing import BLH, OLH
    from ldpkit.mechanisms.categorical.histogram import SHE, THE
    from ldpkit.mechanisms.categorical.matrix import MatrixMechanism
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
    from ldpkit.mechanisms.categorical.subset import SS
    from ldpkit.mechanisms.categorical.unary import OUE, SUE
    from ldpkit.mechanisms.circular.circulant import Purkayastha, VonMises
    from ldpkit.mechanisms.circular.mechanism import CircularMechanism
    from ldpkit.mechanisms.circular.polar import PolarOGPM
    from ldpkit.mechanisms.circular.window import CircularOGPM, CircularSW
    from ldpkit.mechanisms.joint.adversary import Adversary
    from ldpkit.mechanisms.joint.group_count import GroupCount
    from ldpkit.mechanisms.joint.jrr import JRR
    from ldpkit.mechanisms.longitudinal.dbitflip import DBitFlip
    from ldpkit.mechanisms.longitudinal.lgrr import LGRR
    from ldpkit.mechanisms.longitudinal.lhashing import LBLH, LOLH
    from ldpkit.mechanisms.longitudinal.lunary import LOSUE, LOUE, LSOUE, LSUE
    from ldpkit.mechanisms.lookup import get, list_mechanisms
    from ldpkit.mechanisms.numeric.bounded import BoundedLaplace
    from ldpkit.mechanisms.numeric.duchi import CompressedDuchi, Duchi
    from ldpkit.mechanisms.numeric.hybrid import HM
    from ldpkit.mechanisms.numeric.laplace import Laplace, TruncatedLaplace
    from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
    from ldpkit.mechanisms.numeric.ogpm import OGPM, OGPMAt, OGPMPrior, OGPMUnbiased
    from ldpkit.mechanisms.numeric.piecewise import PM, CompressedPM, TruncatedPM
    from ldpkit.mechanisms.numeric.squarewave import SW, CompressedSW, TruncatedSW
    from ldpkit.mechanisms.numeric.staircase import Staircase
    from ldpkit.mechanisms.optimal.mechanism import Optimal
    from ldpkit.mechanisms.spatial.atp import ATP
    from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism
    from ldpkit.mechanisms.spatial.ngram import NGram
    from ldpkit.mechanisms.spatial.place_table import SRR, PlaceExponential
    from ldpkit.mechanisms.spatial.planar_window import PlanarWindow
    from ldpkit.mechanisms.spatial.sequence import TrajectoryMechanism
    from ldpkit.mechanisms.spatial.site_response import GridResponse, PlaceResponse
    from ldpkit.mechanisms.spatial.site_table import GridExponential, PlanarLaplace
    from ldpkit.mechanisms.spatial.tracs_c import TracsC
    from ldpkit.mechanisms.spatial.tracs_d import TracsD
    from ldpkit.mechanisms.tally import Tally
    from ldpkit.planning import public as plan
    from ldpkit.planning.frequencies.recommend import recommend
    from ldpkit.planning.frequencies.recommendation import Recommendation
    from ldpkit.planning.locations import LocationRecommendation, recommend_locations
    from ldpkit.planning.mean.recommendation import MeanRecommendation, recommend_mean
    from ldpkit.planning.plan import Plan, Plans
    from ldpkit.protocols.adaptive_mean import AdaptiveMean
    from ldpkit.protocols.attributes import SampledAttributes
    from ldpkit.protocols.device import Device
    from ldpkit.protocols.history import PrivacyLoss, device_loss, sequence_epsilon
    from ldpkit.protocols.survey import Survey
    from ldpkit.protocols.survey_estimate import SurveyEstimate
    from ldpkit.protocols.trajectories import PrivateTrajectories, privatize_trajectories
    from ldpkit.simulation.trajectories import TrajectoryEvaluation, evaluate_trajectories

__all__ = [
    "AAA",
    "ATP",
    "BLH",
    "Exposure",
    "GRR",
    "HM",
    "JRR",
    "LBLH",
    "LGRR",
    "LOLH",
    "LOSUE",
    "LOUE",
    "LSOUE",
    "LSUE",
    "OGPM",
    "OLH",
    "OUE",
    "PM",
    "SHE",
    "SRR",
    "SS",
    "SUE",
    "SW",
    "THE",
    "AdaptiveMean",
    "Adversary",
    "Audit",
    "Benchmark",
    "BoundedLaplace",
    "CategoricalDomain",
    "CellGrid",
    "HeatMap",
    "Hotspots",
    "hotspots",
    "OriginDestination",
    "origin_destination",
    "remap",
    "LocationRecommendation",
    "recommend_locations",
    "evaluate_trajectories",
    "TrajectoryEvaluation",
    "TrajectoryMechanism",
    "CircleDomain",
    "CircularDensity",
    "CircularMechanism",
    "CircularOGPM",
    "CircularSW",
    "Client",
    "Clipped",
    "ClippedWarning",
    "Collection",
    "Collector",
    "CompressedDuchi",
    "CompressedPM",
    "CompressedSW",
    "Corrected",
    "DBitFlip",
    "Density",
    "Device",
    "DeviceStore",
    "DirectionEstimate",
    "Disc",
    "Duchi",
    "Estimate",
    "Evidence",
    "Exponential",
    "FrequencyOracle",
    "GridExponential",
    "GridResponse",
    "GroupCount",
    "IntervalDomain",
    "Laplace",
    "LdpkitError",
    "MatrixMechanism",
    "MeanRecommendation",
    "Mechanism",
    "NGram",
    "NearestPoint",
    "NumericEstimate",
    "NumericMechanism",
    "OGPMAt",
    "OGPMPrior",
    "OGPMUnbiased",
    "Optimal",
    "Parameter",
    "Parallelogram",
    "PlaceExponential",
    "PlaceResponse",
    "Plan",
    "PlanarLaplace",
    "PlanarWindow",
    "PlaneDomain",
    "Plans",
    "PolarOGPM",
    "Polygon",
    "PrivacyLoss",
    "PrivateTrajectories",
    "Projection",
    "Provenance",
    "Purkayastha",
    "Quantile",
    "Recommendation",
    "Rectangle",
    "ReportFile",
    "ReportWriter",
    "Result",
    "Risk",
    "Risks",
    "RobustBox",
    "SampledAttributes",
    "SpatialMechanism",
    "Staircase",
    "Survey",
    "SurveyEstimate",
    "Tally",
    "TracsC",
    "TracsD",
    "Trajectories",
    "TruncatedLaplace",
    "TruncatedPM",
    "TruncatedSW",
    "UnidentifiedWarning",
    "Utilities",
    "VonMises",
    "Withheld",
    "WrappedWarning",
    "audit",
    "bench",
    "device_loss",
    "errors",
    "expose",
    "get",
    "guarantee",
    "label_response",
    "list_mechanisms",
    "load_plugin",
    "mixture_utility",
    "plan",
    "privatize_trajectories",
    "random",
    "recommend",
    "recommend_mean",
    "register",
    "risk",
    "robust_box",
    "CertifiedBox",
    "certified_box",
    "prior_from_reports",
    "sequence_epsilon",
    "tally_file",
    "testing",
    "utility",
]

# Where each public name lives; imported on first use, so that `import ldpkit` and --help load no more.
_HOMES = {
    "assurance.adversary.compare": ("Risks", "risk"),
    "assurance.adversary.risk_record": ("Risk",),
    "assurance.audit.audit": ("audit",),
    "assurance.audit.record": ("Audit",),
    "assurance.exposure": ("Exposure", "expose"),
    "assurance.joint": ("guarantee",),
    "bench.benchmark": ("Benchmark",),
    "core.domains.categorical": ("CategoricalDomain",),
    "core.domains.cellgrid": ("CellGrid",),
    "core.domains.circle": ("CircleDomain", "WrappedWarning"),
    "core.errors": ("LdpkitError",),
    "core.domains.interval": ("ClippedWarning", "IntervalDomain"),
    "core.domains.plane": ("PlaneDomain",),
    "core.domains.polygons": ("Polygon",),
    "core.domains.projection": ("Projection",),
    "core.domains.regions": ("Disc", "Parallelogram", "Rectangle"),
    "core.domains.trajectories": ("Trajectories",),
    "core.parameters": ("Parameter",),
    "core.provenance": ("Provenance",),
    "core.registry": ("load_plugin",),
    "core.results": ("Result",),
    "planning.frequencies.recommend": ("recommend",),
    "planning.frequencies.recommendation": ("Recommendation",),
    "planning.locations": ("LocationRecommendation", "recommend_locations"),
    "planning.mean.recommendation": ("MeanRecommendation", "recommend_mean"),
    "planning.plan": ("Plan", "Plans"),
    "protocols.adaptive_mean": ("AdaptiveMean",),
    "protocols.attributes": ("SampledAttributes",),
    "estimation.circular_density": ("CircularDensity",),
    "estimation.density": ("Density", "Quantile"),
    "estimation.direction": ("DirectionEstimate",),
    "estimation.heatmap": ("HeatMap",),
    "estimation.hotspots": ("Hotspots", "hotspots"),
    "estimation.origin_destination": ("OriginDestination", "origin_destination"),
    "estimation.remap": ("remap",),
    "estimation.identified": ("UnidentifiedWarning",),
    "estimation.estimate": ("Estimate",),
    "estimation.evidence": ("Evidence",),
    "estimation.numeric": ("NumericEstimate",),
    "mechanisms.base": ("Mechanism", "register"),
    "mechanisms.lookup": ("get", "list_mechanisms"),
    "assurance.classifier.blackbox": ("RobustBox", "robust_box"),
    "assurance.classifier.certified": ("CertifiedBox", "certified_box"),
    "assurance.classifier.columns": ("Clipped", "NearestPoint", "Withheld"),
    "assurance.classifier.corrected": ("Corrected", "label_response"),
    "assurance.classifier.mixture": ("mixture_utility",),
    "assurance.classifier.prior": ("prior_from_reports",),
    "assurance.classifier.utility": ("Utilities", "utility"),
    "mechanisms.categorical.exponential": ("Exponential",),
    "mechanisms.categorical.grr": ("GRR",),
    "mechanisms.categorical.hashing": ("BLH", "OLH"),
    "mechanisms.categorical.histogram": ("SHE", "THE"),
    "mechanisms.joint.adversary": ("Adversary",),
    "mechanisms.joint.group_count": ("GroupCount",),
    "mechanisms.joint.jrr": ("JRR",),
    "mechanisms.longitudinal.dbitflip": ("DBitFlip",),
    "mechanisms.longitudinal.lgrr": ("LGRR",),
    "mechanisms.longitudinal.lhashing": ("LBLH", "LOLH"),
    "mechanisms.longitudinal.lunary": ("LOSUE", "LOUE", "LSOUE", "LSUE"),
    "mechanisms.categorical.matrix": ("MatrixMechanism",),
    "mechanisms.categorical.oracle": ("FrequencyOracle",),
    "mechanisms.categorical.subset": ("SS",),
    "mechanisms.categorical.unary": ("OUE", "SUE"),
    "protocols.device": ("Device",),
    "protocols.history": ("PrivacyLoss", "device_loss", "sequence_epsilon"),
    "mechanisms.adaptive.mechanism": ("AAA",),
    "mechanisms.circular.circulant": ("Purkayastha", "VonMises"),
    "mechanisms.circular.mechanism": ("CircularMechanism",),
    "mechanisms.circular.polar": ("PolarOGPM",),
    "mechanisms.circular.window": ("CircularOGPM", "CircularSW"),
    "mechanisms.numeric.bounded": ("BoundedLaplace",),
    "mechanisms.numeric.duchi": ("CompressedDuchi", "Duchi"),
    "mechanisms.numeric.hybrid": ("HM",),
    "mechanisms.numeric.laplace": ("Laplace", "TruncatedLaplace"),
    "mechanisms.numeric.mechanism": ("NumericMechanism",),
    "mechanisms.numeric.ogpm": ("OGPM", "OGPMAt", "OGPMPrior", "OGPMUnbiased"),
    "mechanisms.optimal.mechanism": ("Optimal",),
    "mechanisms.numeric.piecewise": ("PM", "CompressedPM", "TruncatedPM"),
    "mechanisms.numeric.squarewave": ("SW", "CompressedSW", "TruncatedSW"),
    "mechanisms.numeric.staircase": ("Staircase",),
    "mechanisms.spatial.atp": ("ATP",),
    "mechanisms.spatial.mechanism": ("SpatialMechanism",),
    "mechanisms.spatial.ngram": ("NGram",),
    "mechanisms.spatial.planar_window": ("PlanarWindow",),
    "mechanisms.spatial.site_response": ("GridResponse", "PlaceResponse"),
    "mechanisms.spatial.place_table": ("SRR", "PlaceExponential"),
    "mechanisms.spatial.sequence": ("TrajectoryMechanism",),
    "mechanisms.spatial.site_table": ("GridExponential", "PlanarLaplace"),
    "mechanisms.spatial.tracs_c": ("TracsC",),
    "mechanisms.spatial.tracs_d": ("TracsD",),
    "files.reportfile": ("ReportFile", "ReportWriter", "tally_file"),
    "client.client": ("Client",),
    "client.collection": ("Collection",),
    "client.store": ("DeviceStore",),
    "protocols.survey": ("Survey",),
    "protocols.survey_estimate": ("SurveyEstimate",),
    "collector.remote": ("Collector",),
    "protocols.trajectories": ("PrivateTrajectories", "privatize_trajectories"),
    "simulation.trajectories": ("TrajectoryEvaluation", "evaluate_trajectories"),
    "mechanisms.tally": ("Tally",),
}
_NAMESPACES = {  # modules that are public as a whole
    "bench": "bench",
    "errors": "core.errors",
    "plan": "planning.public",
    "random": "core.random",
    "testing": "testing",
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    home = next((home for home, names in _HOMES.items() if name in names), _NAMESPACES.get(name))
    if home is None:
        raise AttributeError(f"module 'ldpkit' has no attribute {name!r}")
    module = import_module(f"ldpkit.{home}")
    globals()[name] = found = module if name in _NAMESPACES else getattr(module, name)
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
