import type { Answer, Micro } from "./device.js";

/** What a device has spent, in a form that every client reads. */
export interface Ledger {
  format: "ldpkit-ledger-1";
  /** The most that may be spent, in millionths of an epsilon, or null. */
  cap: number | null;
  charges: { collection: string; question: string; round: number; micro: Micro }[];
}

type Charge = Ledger["charges"][number];

/** What charges are sorted by, as text: names have no spaces, and a space sorts before all that they have. */
const key = ({ collection, question, round }: Charge) => `${collection} ${question} ${1e10 + round}`;

/** The sum of some charges, in millionths of an epsilon. */
export const total = (charges: readonly { micro: number | null }[]): number =>
  charges.reduce((sum, { micro }) => sum + (micro ?? Infinity), 0);

/** The ledger of some answers. */
export const ledgerOf = (answers: Answer[], cap: number | null): Ledger => ({
  format: "ldpkit-ledger-1",
  cap,
  charges: answers
    .map(({ collection, question, round, micro }) => ({
      collection,
      question,
      round,
      micro: micro ?? ("infinite" as const),
    }))
    .sort((a, b) => (key(a) < key(b) ? -1 : 1)),
});
