import type { Trx } from '@quittance/shared/db';
import { failpoint } from '@quittance/shared/failpoint';
import { type IdempotencyKey, takeKey } from '@quittance/shared/idempotency';
import { appendToOutbox } from '@quittance/shared/outbox';
import type { Result } from '@quittance/shared/result';
import type { FieldErrors } from '@quittance/shared/validation';
import type { UnchosenInvoice } from '../domain/unchosen-invoice.ts';
import type { Ports } from '../ports.ts';
import { insertUnchosen } from '../store/unchosen-invoices.ts';
import { payloadOf } from '../unchosen-views.ts';
import { answerOnce, type Created } from './answered-request.ts';

/** Creates an invoice whose payer chooses the asset: no rate is locked and no address is taken yet. */
export async function createUnchosen(
  ports: Pick<Ports, 'db' | 'settings'>,
  {
    key,
    requestId,
    admit,
  }: {
    key: IdempotencyKey | undefined;
    requestId: string;
    admit?: (trx: Trx) => Promise<void>;
  },
  terms: Omit<UnchosenInvoice, 'status'>,
): Promise<Result<Created, FieldErrors>> {
  const invoice: UnchosenInvoice = { ...terms, status: 'pending' };
  const payload = payloadOf(invoice, ports);
  const answer = { status: 201, body: { message: 'Invoice created successfully.', data: payload.data } };
  return await answerOnce(ports, key, answer, async () => {
    await ports.db.transaction(async (trx) => {
      await admit?.(trx);
      await insertUnchosen(trx, invoice);
      await appendToOutbox(trx, [{ kind: 'invoice.created', payload }], requestId, invoice.createdAt);
      if (key !== undefined) await takeKey(trx, key, invoice.id, answer);
    });
    failpoint('invoices.unchosen_created');
  });
}
