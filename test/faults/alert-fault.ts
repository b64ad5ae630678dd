import type { Service } from '@quittance/shared/events';
import { serviceOf } from '@quittance/testkit/between';
import { eventually } from '@quittance/testkit/eventually';
import type { AlertFixture } from './alert-fixture.ts';
import type { Recurring } from './recurring.ts';

export type Fired = { alert: string; labels?: Readonly<Record<string, string>> };

/** A fault, and the alerts that it has to fire. */
export type AlertFault = {
  fault: string;
  fires: readonly Fired[];
  begin(fixture: AlertFixture): unknown;
  /** Puts it right, and whatever the runbook asks for beside that. */
  end(fixture: AlertFixture): unknown;
};

export const WITHIN_MS = 20_000;

/** Nobody waits for hours: what is old enough to fire is made older than it is. */
export const older = (
  { quittance }: AlertFixture,
  table: string,
  column: string,
  by: string,
  where = 'true',
) => quittance.db.rows(`update ${table} set ${column} = ${column} - interval '${by}' where ${where}`);

export const service = ({ quittance }: AlertFixture, name: Service) => serviceOf(quittance.stack, name);

/** Begins and ends what recurs while a fault lasts. */
export function lasting(make: (fixture: AlertFixture) => Recurring) {
  let running: Recurring | undefined;
  return {
    begin(fixture: AlertFixture) {
      running = make(fixture);
      running.begin();
    },
    end: () => running?.end(),
  };
}

/** Asks for a payout. @returns what waits until it is in a state */
export async function payout({ shop, quittance }: AlertFixture): Promise<(wanted: string) => Promise<void>> {
  const address = await quittance.ethereum.newAddress();
  const { status, body } = await shop.post('/api/payouts', { asset: 'ETH', amount: '0.01', address });
  if (status !== 201) throw new Error(`no payout: ${status} ${JSON.stringify(body)}`);
  return (wanted) =>
    eventually(async () => {
      const found = await quittance.db.one<{ status: string }>(
        'select status from payouts.payouts where id = $1',
        [body.data.id],
      );
      if (found.status !== wanted) throw new Error(`the payout is ${found.status}`);
    }, WITHIN_MS);
}
