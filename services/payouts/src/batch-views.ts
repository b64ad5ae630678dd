import type { ErrorCode } from '@quittance/shared/error-codes';
import { answers } from '@quittance/shared/http-answers';
import { shownAs } from './domain/states.ts';
import type { PaidLine, PayoutBatch, UnpaidLine } from './store/payout-batches.ts';
import { idOnTheWire, insufficientBalance } from './views.ts';

/** What became of a line. `undecided`: the ledger has not answered yet. */
type LineStatus = 'created' | 'refused' | 'invalid' | 'unavailable' | 'undecided';

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
export function batchView(
  { id, mode, createdAt, unpaidLines, lines: count }: PayoutBatch,
  paid: readonly PaidLine[],
) {
  const lines = [...paid.map(paidLineView), ...unpaidLines.map(unpaidLineView)].sort(
    (a, b) => a.line - b.line,
  );
  const totalOf = (status: LineStatus) => lines.filter((line) => line.status === status).length;
  return {
    id,
    type: 'payout_batch',
    mode,
    created_at: createdAt.toISOString(),
    totals: {
      lines: count,
      created: totalOf('created'),
      refused: totalOf('refused'),
      invalid: totalOf('invalid'),
      unavailable: totalOf('unavailable'),
      undecided: totalOf('undecided'),
    },
    lines,
  };
}

export type BatchView = ReturnType<typeof batchView>;

/** The body of the 201. */
export const createdBatchView = (data: BatchView) => ({ message: 'The batch was carried out.', data });

const errorOf = ({ body }: { body: object }) => body as { message: string; code: ErrorCode; hint: string };

const unavailable = {
  ...errorOf(answers.unavailable),
  hint: 'Nothing was paid for this line: send it again in another batch.',
};

function paidLineView({ line, id, status, ...cost }: PaidLine): LineView {
  if (status === 'requested') return { line, status: 'undecided' };
  if (status === 'refused') return { line, status, ...errorOf(insufficientBalance(cost, undefined)) };
  if (shownAs[status] === null) return { line, status: 'unavailable', ...unavailable };
  return { line, status: 'created', payout_id: idOnTheWire(id) };
}

function unpaidLineView({ line, errors, hint }: UnpaidLine): LineView {
  if (errors === undefined) return { line, status: 'unavailable', ...unavailable };
  return { line, status: 'invalid', errors, code: 'invalid_request', ...(hint !== undefined && { hint }) };
}
