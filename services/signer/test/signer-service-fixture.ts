import { toWire } from '@quittance/chains/signing';
import { connectBus } from '@quittance/shared/bus';
import { commandSubject, type ReplyOf, type RequestOf } from '@quittance/shared/commands';
import { loadConfig } from '@quittance/shared/config';
import { createLogger } from '@quittance/shared/logger';
import { testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import { configSchema } from '../src/config.ts';
import { type SignerService, startSigner } from '../src/service.ts';
import type { signerSuite } from './signer-fixture.ts';
import { type OrderOfPayouts, SEED } from './signer-orders.ts';

/** For one suite: the settings of a signer, and NATS with payouts, invoices and a ledger that answers as the test has it. */
export async function openSignerService(fixture: Awaited<ReturnType<typeof signerSuite>>) {
  const nats = await testNats();
  const logger = createLogger('test', 'silent');
  const connect = (service: string) => connectBus({ url: nats.url, service, logger });
  const [payouts, invoices, ledger] = await Promise.all([
    connect('payouts'),
    connect('invoices'),
    connect('ledger'),
  ]);
  fixture.database.finally(async () => {
    await Promise.all([payouts, invoices, ledger].map((bus) => bus.close()));
    await nats.stop();
  });
  ledger.answer(commandSubject('holds.describe'), async (request) => {
    const asked = await fixture.around.bus.ask('holds.describe', request as RequestOf<'holds.describe'>);
    return asked.known ? asked.reply : Promise.reject(new Error(asked.reason));
  });
  const settings = (given: Record<string, string> = {}) => ({
    DATABASE_URL: fixture.database.urlOf('signer'),
    NATS_URL: nats.url,
    LOG_LEVEL: 'silent',
    ETHEREUM_RPC_URL: 'http://127.0.0.1:1',
    ETHEREUM_CHAIN_ID: '31337',
    ETHEREUM_USDC_ADDRESS: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
    BITCOIN_RPC_URL: 'http://127.0.0.1:1',
    BITCOIN_NETWORK: 'regtest',
    WALLET_SEED: SEED,
    ...given,
  });
  const requestOf = ({ order, payouts: of }: OrderOfPayouts): RequestOf<'transactions.sign'> => ({
    chain: 'ethereum',
    asked_at: new Date().toISOString(),
    only_known: false,
    orders: [{ order: toWire(order), payouts: [...of] }],
  });
  return {
    ...{ payouts, invoices, settings, requestOf },
    start: (given: Record<string, string> = {}): Promise<SignerService> =>
      startSigner(loadConfig('signer', configSchema, settings(given))),
    /** Asks until there is an answer: a replica that has started may not be listening yet. */
    signed: (order: OrderOfPayouts): Promise<ReplyOf<'transactions.sign'>> =>
      eventually(async () => {
        const answer = await payouts.ask('transactions.sign', requestOf(order));
        if (!answer.known) throw new Error(`nothing was signed: ${answer.reason}`);
        return answer.reply;
      }),
  };
}
