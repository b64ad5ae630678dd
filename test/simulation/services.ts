import type { ChainSender } from '@quittance/chains/chain';
import type { SenderOf } from '@quittance/chains/registry';
import { derivedAddressPool, refillAddressPool, storedAddressPool } from '@quittance/invoices/address-pool';
import { defaultSettings } from '@quittance/invoices/domain/invoice-settings';

import { handlers as invoicesHandlers } from '@quittance/invoices/handlers';
import { describeInvoice } from '@quittance/invoices/operations/describe-invoice';
import { describeShop } from '@quittance/invoices/operations/describe-shop';
import { expireInvoices } from '@quittance/invoices/operations/expire-invoices';
import { expireUnchosen } from '@quittance/invoices/operations/expire-unchosen';
import type { Ports as InvoicesPorts, WatchedChain } from '@quittance/invoices/ports';
import { nextAddressBlock } from '@quittance/invoices/store/addresses';
import { findInvoices } from '@quittance/invoices/store/invoice-reads';
import { saveNewInvoices } from '@quittance/invoices/store/invoices';
import { createScanner } from '@quittance/invoices/workers';
import { handlers as ledgerHandlers } from '@quittance/ledger/handlers';
import { catchUpReversals } from '@quittance/ledger/operations/deposits';
import { describeHolds } from '@quittance/ledger/operations/describe-holds';
import { placeAskedHold, proofBatcherOf } from '@quittance/ledger/operations/place-asked-hold';
import { holdBatcherOf } from '@quittance/ledger/operations/place-hold';
import { readAccepted, readBalance } from '@quittance/ledger/operations/read-balance';
import { handlers as payoutsHandlers } from '@quittance/payouts/handlers';
import { endRefunds } from '@quittance/payouts/operations/claim-refund';
import { finishStaleBatches } from '@quittance/payouts/operations/finish-payout-batch';
import { voidStaleRequests } from '@quittance/payouts/operations/request-payout';
import { runAutomaticPayouts } from '@quittance/payouts/operations/run-automatic-payouts';
import { runChainWorker } from '@quittance/payouts/operations/run-chain-worker';
import type { PayoutChain, Ports as PayoutsPorts } from '@quittance/payouts/ports';
import { busSigner } from '@quittance/payouts/transaction-signer';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { commandSubject, commands } from '@quittance/shared/commands';
import { throttledLog } from '@quittance/shared/logger';
import { relayStep } from '@quittance/shared/outbox';
import { type Handlers, processMessages } from '@quittance/shared/process-messages';
import type { Quote } from '@quittance/shared/quotes';
import { answerReconcilers } from '@quittance/shared/reconcile';
import { Secret } from '@quittance/shared/secret';
import { namelessShop } from '@quittance/shared/shop-page';
import { noTracer } from '@quittance/shared/traces';
import { gatewayPublicKeys } from '@quittance/testkit/api';
import { aQuote } from '@quittance/testkit/builders';
import { handlers as webhooksHandlers } from '@quittance/webhooks/handlers';
import type { Environment } from './environment.ts';
import type { Steps } from './mutant.ts';
import { askOf, clockOf, databaseOf, loggerOf } from './ports.ts';
import type { Process, Replica } from './process.ts';
import { reconcileAndPrune, relayOnce } from './relay.ts';
import type { Common } from './replica-parts.ts';
import { invoicesRoutes, ledgerRoutes, payoutRoutes } from './routes.ts';
import { BEGINNING } from './scheduler.ts';
import { startSigner } from './signer-replica.ts';

const LEASE_MS = 5_000;
const PATIENCE = { resendAfterMs: 5_000, doubtForMs: 30_000, stuckAfterMs: 180_000 } as const;
const MINUTE_MS = 60_000;
const POOL_SIZE = 8;

type Workers = Map<string, () => Promise<number>>;

/** Wires a process as its service's `service.ts` does. `name` is one that no process had before. */
export function startReplica(environment: Environment, process: Process, name: string): Replica {
  const { wiring } = environment;
  const { service } = process;
  const as = <T>(wrap: ((port: T) => T) | undefined, port: T): T => (wrap === undefined ? port : wrap(port));
  const common: Common = {
    environment,
    process,
    name,
    db: as(wiring.db[service], databaseOf(environment, process)),
    bus: as(wiring.bus[service], environment.bus.of(process)),
    clock: as(wiring.clock[service], clockOf(environment, process)),
    logger: loggerOf(environment, process),
  };
  switch (service) {
    case 'invoices':
      return startInvoices(common);
    case 'payouts':
      return startPayouts(common);
    case 'ledger':
      return startLedger(common);
    case 'webhooks':
      return startWebhooks(common);
    case 'signer':
      return startSigner(common);
  }
}

function stepOf<N extends keyof Steps>(
  { wiring }: Environment,
  name: N,
  process: Process,
  real: Steps[N],
): Steps[N] {
  const replace = wiring.steps[name] as
    | ((step: Steps[N], service: Process['service']) => Steps[N])
    | undefined;
  return replace === undefined ? real : replace(real, process.service);
}

/** What every service does: carries its outbox, processes events, reconciles. */
function messengerOf<P>(common: Common, handlers: Handlers<P>, ports: P): Workers {
  const { environment, process, db, bus, clock, logger } = common;
  const { service } = process;
  answerReconcilers(bus, db, service);
  const consume = stepOf(environment, 'consume', process, processMessages);
  const throttled = throttledLog(logger, () => clock.now().getTime());
  const relay = stepOf(environment, 'relay', process, relayStep);
  const reconcile = stepOf(environment, 'reconcile', process, reconcileAndPrune);
  return new Map([
    [
      'consume',
      async () => {
        const batch = environment.bus.take(process);
        if (batch.length === 0) return 0;
        environment.tell(
          process,
          `takes ${batch.map(({ subject }) => subject.split('.').slice(3).join('.')).join(', ')}`,
        );
        await consume(batch, { db, handlers, ports, logger, throttled });
        return batch.length;
      },
    ],
    ['relay', () => relayOnce(environment, service, bus, (its) => relay(db, its, logger))],
    ['reconcile', () => reconcile(db, bus, logger)],
  ]);
}

export function quotesOf(environment: Environment) {
  const terms = (asset: AssetSymbol) => ({
    asset,
    usd_rate: usdRate(environment, asset),
    network_fee: networkFee(environment, asset).toString(),
    min_confirmations: environment.chain.minConfirmations,
    dust: (environment.chain.unit(asset) / 1_000n).toString(),
  });
  const quote = (asset: AssetSymbol): Quote => aQuote(terms(asset), new Date(BEGINNING));
  return { latest: quote, fresh: quote };
}

/** Where payouts knows no price of the native asset, it sweeps only what a payout needs. */
function quotesForPayouts(environment: Environment) {
  const { latest } = quotesOf(environment);
  return { latest, fresh: (asset: AssetSymbol) => (environment.sweepsAhead ? latest(asset) : undefined) };
}

/** So that a unit of every chain's scenarios is worth ten dollars. */
const usdRate = ({ chain }: Environment, asset: AssetSymbol): string =>
  ((10n * 10n ** BigInt(assets[asset].decimals)) / chain.unit(asset)).toString();

export const networkFee = ({ chain }: Environment, asset: AssetSymbol): bigint => chain.unit(asset) / 50n;

function startInvoices(common: Common): Replica {
  const { environment, process, db, bus, clock, logger, name } = common;
  const { chain, wiring } = environment;
  const reader = chain.reader(askOf(environment, process));
  const isNamed = chain.kind === 'solana';
  const pool = () =>
    derivedAddressPool({
      addressAt: (index) => chain.depositAddress(index),
      nextBlock: () => nextAddressBlock(db, chain.kind === 'bitcoin' ? 'bitcoin' : 'evm'),
      ahead: 0,
      logger,
    });
  const watched: WatchedChain = {
    chain: chain.chain,
    assets: new Set(chain.assets),
    reader: wiring.reader?.(reader) ?? reader,
    network: { check: async () => {}, lacks: () => undefined } as unknown as WatchedChain['network'],
    addresses: isNamed ? storedAddressPool(db, chain.chain) : pool(),
    // It asks Postgres which transactions were in flight when; here there is only one, and it never ends.
    filter: { among: async (_db, addresses) => [...addresses] },
    storedPool: isNamed
      ? { ahead: POOL_SIZE, isAddress: (text) => chain.checkAddress(text) !== undefined }
      : undefined,
    outageMs: 5 * MINUTE_MS,
    droppedAfterMs: 30_000,
    uri: () => '',
  };
  const ports: InvoicesPorts = {
    db,
    bus,
    clock,
    random: (size) => environment.chance.bytes(size),
    logger,
    tracer: noTracer,
    quotes: quotesOf(environment),
    fiatRates: { fresh: () => undefined },
    chains: new Map([[chain.chain, watched]]),
    saveInvoice: (made) => saveNewInvoices(db, [made]),
    findInvoice: async (id) => (await findInvoices(db, [id]))[0],
    // Nobody looks at a page for longer than one request here.
    pageVersion: async () => undefined,
    pageStreams: { open: () => 'too_many', count: () => 0, close: async () => {} },
    settingsOf: async () => defaultSettings,
    shopOf: async () => namelessShop,
    settings: {
      replica: name,
      gatewayKeys: new Map(),
      publicUrl: 'http://localhost',
      toleranceBps: 0,
      ...{ scanEveryMs: 1_000, scanIdleEveryMs: 1_000 },
      leaseMs: LEASE_MS,
    },
    wakeRelay: () => {},
  };
  bus.answer(commandSubject('invoice.describe'), (body) =>
    describeInvoice(ports, commands['invoice.describe'].request.parse(body)),
  );
  bus.answer(commandSubject('shop.describe'), (body) =>
    describeShop(ports, commands['shop.describe'].request.parse(body)),
  );
  const scanner = createScanner(ports, watched);
  const workers = messengerOf(common, invoicesHandlers, ports);
  workers.set('scan', scanner.step);
  workers.set('expire', async () => {
    const expired = await expireInvoices(ports, watched);
    return environment.hasChoices ? expired + (await expireUnchosen(ports)) : expired;
  });
  const { storedPool } = watched;
  if (storedPool !== undefined)
    workers.set('refill', () => refillAddressPool(ports, chain.chain, storedPool));
  return { workers, invoices: ports, routes: invoicesRoutes(ports, wiring) };
}

function startPayouts(common: Common): Replica {
  const { environment, process, db, bus, clock, logger, name } = common;
  const { chain, wiring } = environment;
  const made = chain.sender(askOf(environment, process)) as ChainSender;
  const sender = wiring.sender?.(made) ?? made;
  const on = {
    kind: chain.kind,
    chain: chain.chain,
    sender: sender as SenderOf<typeof chain.kind>,
    signingPause: { reason: undefined },
    assets: chain.assets,
    checkAddress: chain.checkAddress,
  } as PayoutChain;
  const ports: PayoutsPorts = {
    db,
    bus,
    clock,
    random: (size) => environment.chance.bytes(size),
    logger,
    tracer: noTracer,
    throttledLog: throttledLog(logger, () => clock.now().getTime()),
    quotes: quotesForPayouts(environment),
    chains: new Map([[chain.chain, on]]),
    signer: busSigner(bus, clock),
    fiatRates: { fresh: () => undefined },
    stalled: new Map(),
    settings: {
      ...{ gatewayKeys: new Map(), publicUrl: 'http://localhost', replica: name },
      claimLinksSecret: new Secret('x'.repeat(32)),
      ...{ chainWorkerEveryMs: 1_000, leaseMs: LEASE_MS, gracePeriods: PATIENCE },
    },
    wakeRelay: () => {},
  };
  const workers = messengerOf(common, payoutsHandlers, ports);
  const engine = stepOf(environment, 'payouts.engine', process, runChainWorker);
  const voiding = stepOf(environment, 'payouts.void', process, voidStaleRequests);
  workers.set('engine', () => engine(ports, on));
  workers.set('void', async () => {
    const voided = await voiding(ports);
    if (!environment.hasExtras && !environment.hasLateFunds) return voided;
    return voided + (await finishStaleBatches(ports)) + (await endRefunds(ports));
  });
  if (environment.hasLateFunds)
    workers.set('automatic', () => runAutomaticPayouts({ ...ports, quotes: quotesOf(environment) }));
  const quoted = { ...ports, quotes: quotesOf(environment) };
  return { workers, payouts: ports, routes: payoutRoutes(quoted, wiring) };
}

function startLedger(common: Common): Replica {
  const { environment, process, db, bus, logger } = common;
  const holds = holdBatcherOf(common);
  const proofs = proofBatcherOf({ ...common, gatewayKeys: gatewayPublicKeys });
  const countUnasked = (found: string) => void (found === 'too_old' || environment.defects.push(found));
  const holdPorts = { ...common, holds, proofs, countUnasked, settings: { unprovenUntil: undefined } };
  const place = stepOf(environment, 'ledger.hold', process, placeAskedHold);
  const placing = commands['hold.place'].request;
  bus.answer(commandSubject('hold.place'), (body) => place(holdPorts, placing.parse(body)));
  bus.answer(commandSubject('balance.read'), (body) =>
    readBalance({ db }, commands['balance.read'].request.parse(body)),
  );
  bus.answer(commandSubject('holds.describe'), (body) =>
    describeHolds({ db }, commands['holds.describe'].request.parse(body)),
  );
  bus.answer(commandSubject('accepted.read'), (body) =>
    readAccepted({ db }, commands['accepted.read'].request.parse(body)),
  );
  const workers = messengerOf(common, ledgerHandlers, { logger });
  workers.set('reversals', () => catchUpReversals(common));
  const ports = { db, logger, settings: { publicUrl: 'http://localhost' } };
  return { workers, routes: ledgerRoutes(ports, environment.wiring) };
}

function startWebhooks(common: Common): Replica {
  const { clock } = common;
  return { workers: messengerOf(common, webhooksHandlers, { clock }) };
}
