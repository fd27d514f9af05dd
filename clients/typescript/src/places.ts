/** From a person's value to its place: the integer that the sampler is given. */
import type { Json } from "./canonical.js";
import { take } from "./errors.js";
import { type Form, isWhole, list, must, record, such, whole } from "./fields.js";
import type { Place, Sampler } from "./forms/sampler.js";

/** What a person may answer: a label or an index of a domain without labels, a number or an angle, a location, or one value for each factor. */
export type Value = string | number | boolean | readonly Value[];

/** The nearest whole number, halves to even, as every client rounds. */
export function nearest(x: number): number {
  const low = Math.floor(x);
  const rest = x - low;
  return rest > 0.5 || (rest === 0.5 && low % 2) ? low + 1 : low;
}

export function refuse(value: unknown, wanted: string): never {
  take(false, "value", value, wanted, "value");
}

/** How many values some categories have: a size, labels, or the product of several. */
export const categoryCount = (domain: Json): number =>
  Array.isArray(domain)
    ? domain.length
    : typeof domain === "number"
      ? domain
      : ((domain as Form).product as Json[]).reduce<number>((count, each) => count * categoryCount(each), 1);

function category(domain: Json, value: Value): number {
  if (Array.isArray(domain)) {
    const found = domain.indexOf(value as Json);
    return found < 0 ? refuse(value, "one of its labels") : found;
  }
  if (typeof domain === "number") {
    return isWhole(value, 0, domain - 1) ? value : refuse(value, `a whole number below ${domain}`);
  }
  const factors = (domain as Form).product as Json[];
  if (!Array.isArray(value) || value.length !== factors.length) refuse(value, `${factors.length} values`);
  return factors.reduce<number>((index, each, i) => index * categoryCount(each) + category(each, value[i]), 0);
}

/** A number as a share of its range, refused outside. */
export function within(value: Value, low: number, high: number): number {
  return typeof value === "number" && value >= low && value <= high
    ? value - low
    : refuse(value, `a number from ${low} to ${high}`);
}

/** Read the place of a value, or refuse it before anything is drawn. */
export function placeOf(kind: string, domain: Json, sampler: Sampler, value: Value): Place {
  const { grid } = sampler;
  if (kind === "frequency") return [category(domain, value)];
  if (kind === "numeric") {
    const [low, high] = domain as number[];
    return [Math.min(nearest(within(value, low, high) * (grid![0] / (high - low))), grid![0])];
  }
  if (kind === "circular") {
    const { low, period } = domain as { low: number; period: number };
    return [nearest(within(value, low, low + period) * (grid![0] / period)) % grid![0]];
  }
  return SPATIAL.place!(domain as Form, sampler, value);
}

/** Locations, which `all.ts` adds. */
export const SPATIAL: {
  place?(domain: Form, sampler: Sampler, value: Value): Place;
  check?(domain: Form, sampler: Sampler): void;
} = {};

const number = such<number>(Number.isFinite);
const label = such<string | number | boolean>((value) => value !== "" && value !== null && typeof value !== "object");
const size = whole(2, 2 ** 26);
const labels = list(label, 2, 2 ** 26);
const interval = list(number, 2);
const circle = record({ period: number, low: number });
const product = record({ product: list((value, name) => checkCategories(value, name), 2, 8) });

function checkCategories(domain: Json, name: string): void {
  if (Array.isArray(domain)) must(new Set(labels(domain, name)).size === domain.length, name);
  else size(domain, name);
}

/** Refuse a domain that does not belong to a sampler: a place could stand outside it. */
export function checkDomain(kind: string, domain: Json, sampler: Sampler): void {
  const { axes, grid } = sampler;
  const name = "domain";
  let fit: unknown;
  if (kind === "frequency") {
    if (domain && (domain as Form).product) product(domain, name);
    else checkCategories(domain, name);
    fit = !grid && axes[0] === categoryCount(domain);
  } else if (kind === "numeric") {
    const [low, high] = interval(domain, name);
    fit = low < high && grid && axes[0] === grid[0] + 1;
  } else if (kind === "circular") {
    fit = circle(domain, name).period > 0 && grid && axes[0] === grid[0];
  } else {
    must(kind === "spatial" && SPATIAL.check, "kind");
    return SPATIAL.check!(domain as Form, sampler);
  }
  must(fit && axes.length === 1, name);
}
