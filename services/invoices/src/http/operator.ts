import { takesNoParameters } from '@quittance/shared/http';
import { send } from '@quittance/shared/http-answers';
import { operatorOnly } from '@quittance/shared/merchant-only';
import type { OperatedChain, OperatedChains, OperatedRescan } from '@quittance/shared/operator-views';
import type { Express } from 'express';
import type { Ports, WatchedChain } from '../ports.ts';
import {
  type ChainProgress,
  chainsProgress,
  type ListedRescan,
  lastRescans,
} from '../store/operator-reads.ts';

const RESCANS_MAX = 20;

/** What the console of operators asks invoices, behind the gateway. */
export function routeOperator(app: Express, ports: Ports): void {
  const operator = operatorOnly('invoices', ports.settings.gatewayKeys, ports.clock);
  app.get('/api/operator/chains', operator, takesNoParameters, async (_req, res) => {
    const progress = new Map((await chainsProgress(ports.db)).map((one) => [one.chain, one]));
    const rescans = await lastRescans(ports.db, RESCANS_MAX);
    const body: OperatedChains = {
      chains: [...ports.chains.values()].map((watched) =>
        chainView(watched, progress.get(watched.chain), ports.clock.now()),
      ),
      rescans: rescans.map(rescanView),
    };
    send(res, { status: 200, body });
  });
}

/** Heights of a head, and nodes that are left out, are known to the replica that scans the chain. */
function chainView(watched: WatchedChain, progress: ChainProgress | undefined, now: Date): OperatedChain {
  const since = progress?.syncedAt ?? progress?.knownUntil;
  const lagMs = since === undefined ? null : Math.max(0, now.getTime() - since.getTime());
  return {
    chain: watched.chain,
    height: progress?.height ?? null,
    block_at: progress?.time.toISOString() ?? null,
    node_height: watched.headHeight?.() ?? null,
    known_until: progress?.knownUntil.toISOString() ?? null,
    synced_at: progress?.syncedAt?.toISOString() ?? null,
    lag_seconds: lagMs === null ? null : Math.round(lagMs / 1_000),
    is_late: lagMs === null || lagMs > watched.outageMs,
    nodes_left_out: watched.reader.nodesLeftOut?.() ?? null,
    problems: [watched.network.lacks(), watched.keys?.status.problem?.reason].filter(
      (one) => one !== undefined,
    ),
    contradictions: progress?.contradictions ?? 0,
  };
}

const rescanView = (rescan: ListedRescan): OperatedRescan => ({
  id: rescan.id,
  chain: rescan.chain,
  from_height: rescan.fromHeight,
  next_height: rescan.nextHeight,
  until_height: rescan.untilHeight,
  found: rescan.found,
  asked_at: rescan.askedAt.toISOString(),
  ended_at: rescan.endedAt?.toISOString() ?? null,
  failure: rescan.failure,
});
