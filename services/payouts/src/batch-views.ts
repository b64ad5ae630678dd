import type { ErrorCode } from '@quittance/shared/error-codes';
import { answers } from '@quittance/shared/http-answers';
import { units } from '@quittance/shared/money';
import { assertNever } from '@quittance/shared/result';
import { type PayoutStatus, shownAs } from './domain/states.ts';
import type { PaidLine, PayoutBatch, StatusCount, UnpaidLine } from './store/payout-batches.ts';
import { idOnTheWire, insufficientBalance } from './views.ts';

/** What became of a line. `undecided`: the ledger has not answered yet. */
export const lineStatuses = ['created', 'refused', 'invalid', 'unavailable', 'undecided'] as const;
type LineStatus = (typeof lineStatuses)[number];

type LineView = {
  line: number;
  status: LineStatus;
  payout_id?: number;
  errors?: Record<string, string[]>;
  message?: string;
  code?: ErrorCode;
  hint?: string | undefined;
};

/** A batch with its lines, in their order. */
export function batchView(batch: PayoutBatch, paid: readonly PaidLine[]) {
  const { available, unpaidLines } = batch;
  const lines = [
    ...paid.map((line) => paidLineView(line, available[line.line])),
    ...unpaidLines.map(unpaidLineView),
  ].sort((a, b) => a.line - b.line);
  return { ...headView(batch, (status) => lines.filter((line) => line.status === status).length), lines };
}

/** A batch as a list shows it, without its lines. */
export function listedBatchView(batch: PayoutBatch, counts: readonly StatusCount[]) {
  const own = [
    ...counts.map(({ status, count }) => ({ status: lineStatusOf(status), count })),
    ...batch.unpaidLines.map((line) => ({ status: unpaidLineView(line).status, count: 1 })),
  ];
  return headView(batch, (wanted) =>
    own.reduce((sum, { status, count }) => (status === wanted ? sum + count : sum), 0),
  );
}

const headView = ({ id, mode, createdAt, lines }: PayoutBatch, totalOf: (status: LineStatus) => number) => ({
  id,
  type: 'payout_batch' as const,
  mode,
  created_at: createdAt.toISOString(),
  totals: {
    lines,
    created: totalOf('created'),
    refused: totalOf('refused'),
    invalid: totalOf('invalid'),
    unavailable: totalOf('unavailable'),
    undecided: totalOf('undecided'),
  },
});

export type BatchView = ReturnType<typeof batchView>;

/** The body of the 201. */
export const createdBatchView = (data: BatchView) => ({ message: 'The batch was carried out.', data });

const errorOf = ({ body }: { body: object }) => body as { message: string; code: ErrorCode; hint: string };

const unavailable = {
  ...errorOf(answers.unavailable),
  hint: 'Nothing was paid for this line: send it again in another batch.',
};

function lineStatusOf(status: PayoutStatus): Exclude<LineStatus, 'invalid'> {
  if (status === 'requested') return 'undecided';
  if (status === 'refused') return 'refused';
  return shownAs[status] === null ? 'unavailable' : 'created';
}

/** @param available what the balance had when it did not cover the line; unknown of older batches */
function paidLineView(
  { line, id, status: payoutStatus, ...cost }: PaidLine,
  available: string | undefined,
): LineView {
  const status = lineStatusOf(payoutStatus);
  switch (status) {
    case 'undecided':
      return { line, status };
    case 'refused': {
      const had = available === undefined ? undefined : units(available);
      return { line, status, ...errorOf(insufficientBalance(cost, had)) };
    }
    case 'unavailable':
      return { line, status, ...unavailable };
    case 'created':
      return { line, status, payout_id: idOnTheWire(id) };
    default:
      return assertNever(status);
  }
}

function unpaidLineView({ line, errors, hint }: UnpaidLine): LineView {
  if (errors === undefined) return { line, status: 'unavailable', ...unavailable };
  return { line, status: 'invalid', errors, code: 'invalid_request', ...(hint !== undefined && { hint }) };
}
