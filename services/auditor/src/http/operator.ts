import { type AssetSymbol, assetSymbols, assets } from '@quittance/shared/assets';
import { form } from '@quittance/shared/form';
import type { GatewayPublicKeys } from '@quittance/shared/gateway-keys';
import { contextOf, readBody, takesNoParameters } from '@quittance/shared/http';
import { type Answer, answers, send } from '@quittance/shared/http-answers';
import { operatorOnly } from '@quittance/shared/merchant-only';
import { formatUnits, units } from '@quittance/shared/money';
import type {
  OperatedCheck,
  OperatedDiscrepancy,
  OperatedPause,
  OperatedReconciliation,
} from '@quittance/shared/operator-views';
import { rules } from '@quittance/shared/validation';
import type { Express, Request, Response } from 'express';
import { isByConsole } from '../domain/console-pause.ts';
import { pauseByConsole, resumeByConsole } from '../operations/console-pauses.ts';
import { listHalts } from '../operations/halts.ts';
import type { Ports } from '../ports.ts';
import { lastCheck, type ShownCheck } from '../store/checks.ts';
import { knownDiscrepancies, type StoredDiscrepancy } from '../store/discrepancies.ts';
import type { HaltInForce, ShownHalt } from '../store/halts.ts';
import { sumsOfFunds } from '../store/operator-funds.ts';
import { passedChecks } from '../store/passed-checks.ts';

type OperatorPorts = Pick<Ports, 'db' | 'clock' | 'wakeRelay' | 'memory' | 'settings' | 'chains'>;

const REASON_CHARACTERS_MAX = 300;
const DISCREPANCIES_MAX = 200;
/** How long a check may take before the nodes are asked again. */
const CHECK_MAX_MS = 120_000;

const readPause = form({ reason: rules.text(REASON_CHARACTERS_MAX).required });
const readNothing = form({});

/** What the console of operators asks the auditor, behind the gateway. */
export function routeOperator(app: Express, ports: OperatorPorts, keys: GatewayPublicKeys): void {
  const operator = operatorOnly('auditor', keys, ports.clock);
  app.get('/api/operator/reconciliation', operator, takesNoParameters, async (_req, res) =>
    send(res, { status: 200, body: await reconciliation(ports) }),
  );
  app.put('/api/operator/pauses/:asset', operator, takesNoParameters, ...readBody, async (req, res) =>
    send(res, await pause(ports, req, res)),
  );
  app.delete('/api/operator/pauses/:asset', operator, takesNoParameters, ...readBody, async (req, res) =>
    send(res, await resume(ports, req, res)),
  );
}

const assetOf = (req: Request): AssetSymbol | undefined =>
  assetSymbols.find((symbol) => symbol === req.params['asset']);

async function pause(ports: OperatorPorts, req: Request, res: Response): Promise<Answer> {
  const { body, identity } = contextOf(res);
  const asset = assetOf(req);
  if (asset === undefined) return answers.noModel('Asset');
  const read = readPause(body);
  if (!read.ok) return answers.invalid(read.refusal);
  const reason = `${read.value.reason} (${identity.person})`;
  const paused = await pauseByConsole(ports, { asset, reason });
  if (!paused.ok) return answers.conflict(`Payouts of ${asset} are paused already.`);
  return { status: 200, body: { message: 'Payouts paused successfully.', data: { asset } } };
}

async function resume(ports: OperatorPorts, req: Request, res: Response): Promise<Answer> {
  const asset = assetOf(req);
  if (asset === undefined) return answers.noModel('Asset');
  const read = readNothing(contextOf(res).body);
  if (!read.ok) return answers.invalid(read.refusal);
  const resumed = await resumeByConsole(ports, asset);
  if (resumed.ok) return { status: 200, body: { message: 'Payouts resumed successfully.', data: { asset } } };
  const command = `quittance payouts resume --asset ${asset}`;
  switch (resumed.refusal) {
    case 'not_halted':
      return answers.conflict(`Payouts of ${asset} are not paused.`);
    case 'not_by_console':
      return answers.conflict(
        `Payouts of ${asset} were not paused here: the command \`${command}\` resumes them.`,
      );
    case 'not_found_right':
      return answers.conflict(
        `No check of the last five minutes has found the records of ${asset} right: the command \`${command}\` says why.`,
      );
  }
}

async function reconciliation(ports: OperatorPorts): Promise<OperatedReconciliation> {
  const { db } = ports;
  const { open, inForce } = await listHalts(db);
  const discrepancies = await knownDiscrepancies(db);
  const passed = new Map((await passedChecks(db)).map(({ asset, beganAt }) => [asset, beganAt]));
  const funds = new Map((await sumsOfFunds(db)).map(({ asset, amount }) => [asset, amount]));
  const backing = backingOf(ports);
  return {
    checks: {
      recent: checkView(await lastCheck(db, 'recent')),
      whole: checkView(await lastCheck(db, 'whole')),
    },
    discrepancies: discrepancies.slice(0, DISCREPANCIES_MAX).map(discrepancyView),
    pauses: pausesOf(open, inForce),
    assets: usedAssets(ports).map((asset) => ({
      asset,
      chain: assets[asset].chain,
      passed_at: passed.get(asset)?.toISOString() ?? null,
      reserves: amountOf(asset, backing.get(asset)?.there),
      liabilities: amountOf(asset, backing.get(asset)?.owed),
      operator_funds: amountOf(asset, funds.get(asset)),
    })),
  };
}

/** Of the chains that are compared; of all where none is. */
function usedAssets({ chains }: OperatorPorts): readonly AssetSymbol[] {
  const compared = new Set<string>(chains.map(({ settings }) => settings.chain));
  return compared.size === 0
    ? assetSymbols
    : assetSymbols.filter((asset) => compared.has(assets[asset].chain));
}

const amountOf = (asset: AssetSymbol, amount: bigint | undefined): string | null =>
  amount === undefined ? null : formatUnits(units(amount), assets[asset].decimals);

/** What this replica has compared itself, lately. */
function backingOf({ memory, clock, settings }: OperatorPorts) {
  const since = clock.now().getTime() - 2 * settings.chainsEveryMs - CHECK_MAX_MS;
  const latest = [...memory.values()].filter(({ lookedAt }) => (lookedAt?.getTime() ?? 0) > since);
  return new Map(latest.flatMap(({ balances }) => [...balances.backing]));
}

/** Also those that payouts has not ended yet. */
function pausesOf(open: readonly ShownHalt[], inForce: readonly HaltInForce[]): OperatedPause[] {
  return open.map((halt) => ({
    asset: halt.asset,
    in_force: inForce.some((one) => one.asset === halt.asset && one.inForce),
    paused_at: halt.haltedAt.toISOString(),
    reasons: halt.discrepancies.map(({ invariant, what }) => ({ invariant, what })),
    by_console: isByConsole(halt),
  }));
}

const checkView = (check: ShownCheck | undefined): OperatedCheck | null =>
  check === undefined
    ? null
    : {
        began_at: check.beganAt.toISOString(),
        ended_at: check.endedAt.toISOString(),
        right: check.wasRight,
        chains: check.chains,
      };

const discrepancyView = (one: StoredDiscrepancy): OperatedDiscrepancy => ({
  invariant: one.invariant,
  what: one.what,
  asset: one.asset ?? null,
  chain: one.chain ?? null,
  pauses_payouts: one.pausesPayouts,
  times: one.times,
  first_seen_at: one.firstSeenAt.toISOString(),
  last_seen_at: one.lastSeenAt.toISOString(),
  accepted_at: one.acceptedAt?.toISOString() ?? null,
});
