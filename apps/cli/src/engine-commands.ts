import { type AssetSymbol, assets, assetsOf, type Chain, chainKinds } from '@quittance/shared/assets';
import type { Db } from '@quittance/shared/db';
import { formatUnits, units } from '@quittance/shared/money';
import { chainNamed } from './chain-named.ts';
import { actor, withOperator } from './operator-database.ts';
import type { SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';
import { minute, table } from './table.ts';

export type AllowOrder = { chain: string; upTo: string; noneWasPaid: boolean };

const forms = {
  evm: { form: /^\d{1,15}$/, what: 'a nonce' },
  bitcoin: { form: /^[0-9a-f]{64}:\d{1,6}$/, what: 'a coin as <transaction>:<output>' },
  solana: { form: /^[1-9A-HJ-NP-Za-km-z]{64,88}$/, what: 'a signature' },
} as const;

const SHOWN_MAX = 50;

/** Lets the engine of a chain sign again that was barred because the chain knew more of its wallet than the database. */
export async function engineAllow(
  around: Surroundings,
  { chain: named, upTo, noneWasPaid }: AllowOrder,
): Promise<SaidOutcome> {
  const chain = chainNamed(named);
  const { form, what } = forms[chainKinds[chain]];
  if (!form.test(upTo))
    throw new CommandError(`On ${chain} it is ${what} that is accepted, not ${JSON.stringify(upTo)}.`);
  return await withOperator(around, 'operator', async (db) => {
    const waiting = await payoutsWaiting(db, chain);
    const shown = waiting
      .slice(0, SHOWN_MAX)
      .map(({ id, amount, asset, address, at }) => [
        id,
        `${formatUnits(units(amount), assets[asset].decimals)} ${asset}`,
        address,
        minute(at),
      ]);
    if (!noneWasPaid) {
      return {
        json: { chain, allowed: false, would_be_signed: waiting.map(({ id }) => id) },
        text: say`${
          waiting.length === 0
            ? say`No payout waits on ${chain}.`
            : say`${table(['PAYOUT', 'AMOUNT', 'TO', 'ASKED FOR'], shown)}\n${waiting.length} payouts would be signed next.`
        }
Nothing was changed. Find out in the chain that none of them was paid, then add --none-was-paid.\n`,
        bad: true,
      };
    }
    const { accepted } = await db.one<{ accepted: boolean }>(
      'select operator.accept_history($1, $2, $3) as accepted',
      [chain, upTo, actor(around)],
    );
    if (!accepted)
      throw new CommandError(
        `There was nothing to accept: payouts knows of ${upTo} on ${chain}, or of more, or has never signed there.`,
      );
    return {
      json: { chain, allowed: true, up_to: upTo },
      text: say`Accepted. payouts signs on ${chain} again within seconds, unless the chain shows yet more that it does not know: its log and /readyz say so.\n`,
    };
  });
}

type Waiting = { id: string; asset: AssetSymbol; amount: string; address: string; at: Date };

const payoutsWaiting = (db: Db, chain: Chain): Promise<Waiting[]> =>
  db.rows<Waiting>(
    `select id::text, asset, amount::text, address, created_at as at from payouts.payouts
     where status = 'reserved' and asset = any($1::text[]) order by seq`,
    [assetsOf(chain)],
  );
