import type { GivenLine } from '@quittance/shared/batch-csv';
import { fieldsOf } from '@quittance/shared/exact-json';
import { formPart, unknownFields } from '@quittance/shared/form';
import { Unavailable } from '@quittance/shared/http';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type FieldErrors, type FieldProblem, rules } from '@quittance/shared/validation';
import { type PayoutOrder, readPayoutOrder } from './payout-order.ts';

export const batchModes = ['each', 'all_or_nothing'] as const;
/** `each`: a line that is refused does not hinder the others. `all_or_nothing`: all lines are paid, or none. */
export type BatchMode = (typeof batchModes)[number];

export const LINES_MAX = 500;

/** A line of a batch: its order, what is wrong with it, or nothing of both when it cannot be paid now. */
export type BatchOrderLine = { line: number } & (
  | { order: PayoutOrder }
  | { errors: FieldErrors }
  | { isUnavailable: true }
);

/** Reads the mode. */
export const readMode = formPart({ mode: rules.oneOf(batchModes).required });

/** Reads the list of a JSON body, whose lines count from 1. */
export function readBatchBody(body: unknown): Result<{ mode: BatchMode; given: GivenLine[] }, FieldErrors> {
  const mode = readMode(body);
  const errors: FieldErrors = {
    ...(mode.ok ? {} : mode.refusal),
    ...unknownFields(body, ['mode', 'payouts']),
  };
  const listed = fieldsOf(body)?.['payouts'] ?? null;
  if (listed === null) errors['payouts'] = [{ message: 'The payouts field is required.' }];
  else if (!Array.isArray(listed)) {
    const hint = 'Give an array of payouts, each as for POST /api/payouts.';
    errors['payouts'] = [{ message: 'The payouts must be an array.', hint }];
  }
  if (!mode.ok || !Array.isArray(listed) || Object.keys(errors).length > 0) return refuse(errors);
  return ok({ mode: mode.value.mode, given: listed.map((input, i) => ({ line: i + 1, input })) });
}

/** Whether a batch has a number of lines that is not allowed. */
export function countProblem({ length }: readonly unknown[]): FieldErrors | undefined {
  if (length === 0) return { payouts: [{ message: 'The payouts must have at least 1 items.' }] };
  if (length <= LINES_MAX) return undefined;
  const hint = `It has ${length} lines: send several batches.`;
  return { payouts: [{ message: `The payouts must not have more than ${LINES_MAX} items.`, hint }] };
}

/** Reads every line as a payout of its own. A line that repeats an earlier one is wrong. */
export function readLines(
  given: readonly GivenLine[],
  ports: Parameters<typeof readPayoutOrder>[1],
): BatchOrderLine[] {
  const earlier = new Map<string, number>();
  return given.map(({ line, input }) => {
    const read = readLine(input, ports);
    if (read === undefined) return { line, isUnavailable: true };
    if (!read.ok) return { line, errors: read.refusal };
    const { asset, amount, address, externalId, takesAll } = read.value;
    if (takesAll) return { line, errors: { amount: [noMax] } };
    const same = JSON.stringify([asset, amount.toString(), address, externalId]);
    const first = earlier.get(same);
    if (first !== undefined) return { line, errors: { external_id: [repeats(first)] } };
    earlier.set(same, line);
    return { line, order: read.value };
  });
}

/** Undefined when the line cannot be paid now. */
function readLine(input: unknown, ports: Parameters<typeof readPayoutOrder>[1]) {
  try {
    return readPayoutOrder(input, ports);
  } catch (error) {
    if (error instanceof Unavailable) return undefined;
    throw error;
  }
}

const noMax: FieldProblem = {
  message: 'The amount must be a number.',
  hint: 'A payout of all that the balance has is requested by itself.',
};

const repeats = (line: number): FieldProblem => ({
  message: `The line repeats line ${line}.`,
  hint: 'If both are meant, give each an external id of its own.',
});
