import { createApp, finishApp } from '@quittance/shared/http';
import { send } from '@quittance/shared/http-answers';
import type { ServiceHttpParts } from '@quittance/shared/start-service';
import type { Express } from 'express';
import { listHalts } from '../operations/halts.ts';
import type { Ports } from '../ports.ts';
import { lastCheck, type ShownCheck } from '../store/checks.ts';
import { knownDiscrepancies, type StoredDiscrepancy } from '../store/discrepancies.ts';
import { routeOperator } from './operator.ts';

/** For operators: `/internal/books` inside the network, and their console behind the gateway where its public key is given. */
export function createHttp(ports: Ports, parts: ServiceHttpParts): Express {
  const { db, gatewayKeys } = ports;
  const app = createApp(parts);
  if (gatewayKeys !== undefined) routeOperator(app, ports, gatewayKeys);

  app.get('/internal/books', async (_req, res) => {
    const { open, inForce } = await listHalts(db);
    const body = {
      checks: {
        recent: checkView(await lastCheck(db, 'recent')),
        whole: checkView(await lastCheck(db, 'whole')),
      },
      breaches: (await knownDiscrepancies(db)).map(discrepancyView),
      halts: open.map(({ seq, asset, discrepancies, haltedAt }) => ({
        halt: seq,
        asset,
        halted_at: haltedAt.toISOString(),
        // Payouts has halted the asset.
        in_force: inForce.some((one) => one.asset === asset && one.inForce),
        breaches: discrepancies,
      })),
    };
    send(res, { status: 200, body });
  });

  finishApp(app, parts.logger);
  return app;
}

const checkView = (check: ShownCheck | undefined) =>
  check === undefined
    ? null
    : {
        began_at: check.beganAt.toISOString(),
        ended_at: check.endedAt.toISOString(),
        right: check.wasRight,
        chains: check.chains,
      };

const discrepancyView = (one: StoredDiscrepancy) => ({
  invariant: one.invariant,
  what: one.what,
  asset: one.asset ?? null,
  chain: one.chain ?? null,
  halts: one.pausesPayouts,
  seen: one.times,
  first_seen_at: one.firstSeenAt.toISOString(),
  last_seen_at: one.lastSeenAt.toISOString(),
  accepted_at: one.acceptedAt?.toISOString() ?? null,
});
