import { bitflip, chainedUnary, subset, unary } from "./bits.js";
import { coin, hybrid, noise, window } from "./cells.js";
import { chainedHashing, chainedResponse, hashing, response } from "./response.js";
import { LdpkitError } from "../errors.js";
import { must, type Form, type Reader } from "../fields.js";
import type { Sampler } from "./sampler.js";

/** The forms that a client knows; `all.ts` adds those for locations and tables. */
export const FORMS: { [form: string]: Reader<Sampler> } = {
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
export const readSampler: Reader<Sampler> = (sampler, where) => {
  const form = (sampler as Form | null)?.form as string;
  must(Object.hasOwn(FORMS, form), `${where}.form is ${form}; ldpkit-all.js knows more`);
  try {
    return FORMS[form](sampler, where);
  } catch (error) {
    throw error instanceof LdpkitError ? new LdpkitError("sampler", error.message) : error;
  }
};
