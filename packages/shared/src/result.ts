/** What an operation answers when a refusal is a normal outcome; everything else throws. */
export type Result<T, R> = { ok: true; value: T } | { ok: false; refusal: R };

export const ok = <T>(value: T): { ok: true; value: T } => ({ ok: true, value });

export const refuse = <R>(refusal: R): { ok: false; refusal: R } => ({ ok: false, refusal });

/** Makes a switch exhaustive: a new case without a branch does not compile. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value ${JSON.stringify(value)}`);
}

/** Checks what must be true, in production too. A failure is a defect, never an answer to a client. */
export function invariant(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${what}`);
}
