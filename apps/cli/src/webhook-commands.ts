import { systemClock } from '@quittance/shared/clock';
import type { Db, Trx } from '@quittance/shared/db';
import type { AccountId } from '@quittance/shared/ids';
import { redeliver } from '@quittance/webhooks/operations/deliveries';
import { actor, withOperator, writeAuditLog } from './operator-database.ts';
import type { SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';

type Wanted = { delivery: string; account: AccountId };

const whyNot = {
  not_found: 'there is no such delivery',
  forbidden: 'there is no such delivery',
  deleted: 'its endpoint was deleted',
  disabled: 'its endpoint is disabled: its merchant enables it first',
  sending: 'it is being sent at this moment',
} as const;

/** Delivers an event once more, under the same id: one delivery, or an event to all endpoints that it was for. */
export const webhookResend = (around: Surroundings, id: string): Promise<SaidOutcome> =>
  withOperator(around, 'webhooks', async (db) => {
    const wanted = await deliveriesNamed(db, id);
    if (wanted.length === 0)
      throw new CommandError(
        `${JSON.stringify(id)} names no delivery (dlv_…) and no event that was for an endpoint (evt_…). ` +
          '`quittance invoice show` and `payout show` name them.',
      );
    const done: string[] = [];
    const refused: { delivery: string; why: string }[] = [];
    const by = actor(around);
    for (const { delivery, account } of wanted) {
      const note = (trx: Trx) => writeAuditLog(trx, { actor: by, action: 'resend', subject: delivery });
      const again = await redeliver({ db, clock: systemClock, note }, account, delivery);
      if (again.ok) done.push(delivery);
      else refused.push({ delivery, why: whyNot[again.refusal] });
    }
    return {
      json: { resent: done, refused },
      text: say`${done.map((delivery) => say`Sent again, now: ${delivery}\n`)}${refused.map(
        ({ delivery, why }) => say`NOT sent again, ${why}: ${delivery}\n`,
      )}`,
      bad: done.length === 0,
    };
  });

async function deliveriesNamed(db: Db, id: string): Promise<Wanted[]> {
  const parts = /^dlv_([0-9a-z]{36})([0-9a-z]{36})$/.exec(id);
  const event = parts === null ? id : `evt_${parts[2]}`;
  const endpoint = parts === null ? null : `whe_${parts[1]}`;
  const rows = await db.rows<{ endpoint: string; event: string; account: AccountId }>(
    `select p.id as endpoint, ev.id as event, ev.account_id as account
     from events ev join endpoints p on p.account_id = ev.account_id
     join deliveries d on d.endpoint_key = p.key and d.sequence = ev.sequence
     where ev.id = $1 and ($2::text is null or p.id = $2) order by p.key`,
    [event, endpoint],
  );
  return rows.map(({ endpoint: of, event: what, account }) => ({
    delivery: `dlv_${of.slice('whe_'.length)}${what.slice('evt_'.length)}`,
    account,
  }));
}
