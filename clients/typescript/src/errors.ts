/** What went wrong, for a program; the message is for a person. */
export type ErrorCode =
  | "argument" // something was called with what it does not take
  | "insecure-context" // the page is not served over HTTPS, or there is no WebCrypto
  | "malformed" // the collection file is not one
  | "unsigned" // a key is given, and the file has no signature
  | "other-key" // it is signed with another key
  | "bad-signature" // it was changed after it was signed
  | "other-digest" // it is not the file whose digest was given
  | "rollback" // the device has seen a newer version
  | "changed-version" // the device has seen other contents under the same version
  | "sampler" // the integers of a question are no sampler
  | "charge" // a report tells more than the file charges for it
  | "promise" // the charges add up to more than the file promises
  | "question" // there is no such question, or this device is not asked it
  | "value" // the value is not one of the question's
  | "round" // no round is open now
  | "cap" // the answer would cost more than is left
  | "storage" // nothing can be stored, so nothing may be sent
  | "damaged" // what is stored is not what was stored
  | "network"; // the collection file cannot be fetched

/** Every error that this client throws on purpose. */
export class LdpkitError extends Error {
  /** What went wrong, for a program. */
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "LdpkitError";
    this.code = code;
  }
}

/** Refuse what a collection file must not say. */
export function must(holds: unknown, what = "the integers of a sampler"): asserts holds {
  insist(holds, "malformed", `the collection file is damaged or forged: ${what}`);
}

/** Refuse an argument that is not what it must be. */
export function take(
  holds: unknown,
  name: string,
  given: unknown,
  wanted: string,
  code: ErrorCode = "argument",
): asserts holds {
  const got = typeof given === "string" ? JSON.stringify(given) : String(given); // in quotes, "25" is no number
  insist(holds, code, `${name} must be ${wanted}, got ${got}`);
}

/** Refuse what does not hold. */
export function insist(holds: unknown, code: ErrorCode, message: string): asserts holds {
  if (!holds) throw new LdpkitError(code, message);
}
