import { knownFunds, noteWithdrawal } from '@quittance/auditor/operations/operator-funds';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { systemClock } from '@quittance/shared/clock';
import type { Trx } from '@quittance/shared/db';
import { formatUnits, parseUnits, type Units } from '@quittance/shared/money';
import { assetNamed } from './asset-named.ts';
import { actor, withOperator, writeAuditLog } from './operator-database.ts';
import type { SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';
import { minute, table } from './table.ts';

const shown = (asset: AssetSymbol, amount: Units): string => formatUnits(amount, assets[asset].decimals);

/** The operator's own money, as the auditor has measured it. */
export const listOperatorFunds = (around: Surroundings): Promise<SaidOutcome> =>
  withOperator(around, 'auditor', async (db) => {
    const { sums, changes } = await knownFunds(db);
    return {
      json: {
        funds: sums.map(({ asset, amount }) => ({ asset, amount: shown(asset, amount) })),
        changes: changes.map(({ asset, amount, cause, notedAt }) => ({
          asset,
          amount: shown(asset, amount),
          cause,
          noted_at: notedAt.toISOString(),
        })),
      },
      text: say`${table(
        ['ASSET', 'THE OPERATOR HAS'],
        sums.map(({ asset, amount }) => [asset, shown(asset, amount)]),
      )}\n${table(
        ['WHEN', 'ASSET', 'AMOUNT', 'CAUSE'],
        changes.map(({ asset, amount, cause, notedAt }) => [
          minute(notedAt),
          asset,
          shown(asset, amount),
          cause,
        ]),
      )}`,
    };
  });

/** Notes what the operator has taken from the hot wallet. */
export function noteOperatorWithdrawal(
  around: Surroundings,
  { asset: named, amount: text }: { asset: string; amount: string },
): Promise<SaidOutcome> {
  const asset = assetNamed(named);
  const amount = parseUnits(text, assets[asset].decimals);
  if (!amount.ok || amount.value <= 0n)
    throw new CommandError(`The amount must be a number of ${asset} above 0, such as 1.5.`);
  const note = (trx: Trx) =>
    writeAuditLog(trx, {
      actor: actor(around),
      action: 'note withdrawal',
      subject: `${shown(asset, amount.value)} ${asset}`,
    });
  return withOperator(around, 'auditor', async (db) => {
    const done = await noteWithdrawal({ db, clock: systemClock, note }, { asset, amount: amount.value });
    if (!done.ok)
      throw new CommandError(
        `The auditor has not measured the operator's ${asset} yet: there is nothing to note.`,
      );
    return {
      json: { asset, left: shown(asset, done.value) },
      text: say`The operator has ${shown(asset, done.value)} ${asset} left.\n`,
    };
  });
}
