import { type AssetSymbol, assets, assetsOf, type Chain, chainKinds } from '@quittance/shared/assets';
import type { Db } from '@quittance/shared/db';
import { formatUnits, units } from '@quittance/shared/money';
import { chainNamed } from './chain-named.ts';
import { actor, withOperator } from './operator-database.ts';
import type { SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';
import { minute, table } from './table.ts';

export type ResumeSigningOptions = { chain: string; upTo: string; confirmNonePaid: boolean };

const forms = {
  evm: { form: /^\d{1,15}$/, what: 'a nonce', options: '--nonce' },
  bitcoin: {
    form: /^[0-9a-f]{64}:\d{1,6}$/,
    what: 'an output as <transaction>:<output>',
    options: '--outpoint',
  },
  solana: { form: /^[1-9A-HJ-NP-Za-km-z]{64,88}$/, what: 'a signature', options: '--signature' },
} as const;

const SHOWN_MAX = 50;

/** Resumes signing on a chain, which was paused because the chain knew more of the hot wallet than the database. */
export async function resumeSigning(
  around: Surroundings,
  { chain: named, upTo, confirmNonePaid }: ResumeSigningOptions,
): Promise<SaidOutcome> {
  const chain = chainNamed(named);
  const { form, what, options } = forms[chainKinds[chain]];
  if (!form.test(upTo))
    throw new CommandError(`On ${chain} name ${what} (${options}), not ${JSON.stringify(upTo)}.`);
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
    if (!confirmNonePaid) {
      return {
        json: { chain, allowed: false, would_be_signed: waiting.map(({ id }) => id) },
        text: say`${
          waiting.length === 0
            ? say`No payout waits on ${chain}.`
            : say`${table(['PAYOUT', 'AMOUNT', 'TO', 'ASKED FOR'], shown)}\n${waiting.length} payouts would be signed next.`
        }
Nothing was changed. Find out in the chain that none of them was paid, then add --confirm-none-paid.\n`,
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
