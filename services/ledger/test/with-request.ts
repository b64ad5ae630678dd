import { assets } from '@quittance/shared/assets';
import type { RequestOf } from '@quittance/shared/commands';
import type { AccountId } from '@quittance/shared/ids';
import { formatUnits, units } from '@quittance/shared/money';
import { requestProofOf } from '@quittance/testkit/api';

type Hold = RequestOf<'hold.place'>;

export const DESTINATION = `0x${'ab'.repeat(20)}`;
const proofs = new Map<string, Pick<Hold, 'destination' | 'proof'>>();

/** The hold with the request by which its merchant asks for exactly this payout; the same each time. */
export function withRequest(hold: Hold): Hold {
  const key = JSON.stringify(hold);
  const known = proofs.get(key) ?? { destination: DESTINATION, proof: proofOf(hold) };
  proofs.set(key, known);
  return { ...hold, ...known };
}

function proofOf(hold: Hold): NonNullable<Hold['proof']> {
  const { asset, account_id, deposit_id: deposit, invoice_id: invoice } = hold;
  const text = (value: bigint) => formatUnits(units(value), assets[asset].decimals);
  const [amount, fee] = [BigInt(hold.amount), BigInt(hold.network_fee)];
  const address = DESTINATION;
  const [path, body] =
    deposit !== null
      ? [
          `/api/unresolved/${deposit}/return`,
          { address, ...(hold.is_part && { amount: text(amount + fee) }) },
        ]
      : invoice
        ? [`/api/invoices/${invoice}/refunds`, { address, amount: 'all', rate: 'now' }]
        : ['/api/payouts', { asset, address, amount: hold.takes_all ? 'max' : text(amount) }];
  return shown(account_id as AccountId, path, body);
}

/** A request as payouts shows it. */
export function shown(
  account: AccountId,
  path: string,
  body: object,
  { item = 0, method = 'POST', now = new Date() } = {},
): NonNullable<Hold['proof']> {
  const text = JSON.stringify(body);
  const { assertion } = requestProofOf(account, { method, path, body: text, now, receiver: 'payouts' });
  return { assertion, method, path, body: Buffer.from(text).toString('base64'), item };
}
