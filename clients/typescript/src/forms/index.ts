import { bitflip, chainedUnary, subset, unary } from "./bits.js";
import { coin, hybrid, noise, window } from "./cells.js";
import { chainedHashing, chainedResponse, hashing, response } from "./response.js";
import { insist, LdpkitError } from "../errors.js";
import { object, type Form, type Reader } from "../fields.js";
import type { Json } from "../canonical.js";
import type { Sampler } from "./sampler.js";

/** The forms that a client knows; `all.ts` adds those for locations and those that are tables. */
export const FORMS: { [form: string]: (integers: Json) => Sampler } = {
  __proto__: null!, // or every object would have the form "constructor"
  response,
  hashing,
  unary,
  subset,
  window,
  coin,
  hybrid,
  noise,
  chained_response: chainedResponse,
  chained_hashing: chainedHashing,
  chained_unary: chainedUnary,
  bitflip,
};

/** Read the integers of a question, or refuse them: every condition that its epsilon rests on is checked. */
export const readSampler: Reader<Sampler> = (sampler, name) => {
  const { form, ...integers } = object(sampler, name) as Form & { form: string };
  insist(
    typeof form === "string" && FORMS[form],
    "sampler",
    `${form} is no form that this client knows: ldpkit-all.js knows all`,
  );
  try {
    return FORMS[form](integers);
  } catch (error) {
    throw error instanceof LdpkitError ? new LdpkitError("sampler", error.message) : error;
  }
};
