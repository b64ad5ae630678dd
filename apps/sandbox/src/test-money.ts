import { checkAddress as checkBitcoinAddress } from '@quittance/chains/bitcoin/wallet';
import { checkAddress as checkEvmAddress } from '@quittance/chains/evm/wallet';
import { checkAddress as checkSolanaAddress } from '@quittance/chains/solana/wallet';
import { type AssetSymbol, assets, type ChainKind, chainKinds } from '@quittance/shared/assets';
import { systemClock } from '@quittance/shared/clock';
import { readPublicKeys } from '@quittance/shared/gateway-keys';
import {
  contextOf,
  createApp,
  finishApp,
  readBody,
  takesNoParameters,
  Unavailable,
} from '@quittance/shared/http';
import { type Answer, answers, send } from '@quittance/shared/http-answers';
import { type Listening, listen } from '@quittance/shared/http-server';
import { createLogger, type Logger, reason } from '@quittance/shared/logger';
import { merchantOnly } from '@quittance/shared/merchant-only';
import { formatUnits, parseUnits } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import { readTestPayment, TEST_PAYMENTS_PATH, testPaymentView } from '@quittance/shared/test-money';
import { payFromFaucet } from '@quittance/stack/faucet';
import type { Stack } from '@quittance/stack/stack';

const HOST = '127.0.0.1';

/** What the gateway is told: the setting SANDBOX_URL. */
export const testMoneyUrl = (port: number): string => `http://${HOST}:${port}`;

type Faucet = Pick<Stack, 'nodes'> & {
  port: number;
  /** By it the gateway asserts whose request it is: a page of another origin reaches this port too, and pays nothing. */
  gatewayPublicKey: string;
  logger: Logger;
};

const NOT_TAKEN = 'The node has not taken the payment: see the log of the sandbox.';

/** What is sent at once, so that one request does not empty the faucet. */
const AMOUNTS_MAX: Readonly<Partial<Record<AssetSymbol, bigint>>> = {
  BTC: 100n,
  ETH: 1_000n,
  SOL: 10_000n,
  USDC_ERC20: 1_000_000n,
  USDC_SOL: 1_000_000n,
};

/** The networks of a sandbox's own nodes. */
const addressChecks: Readonly<
  Record<ChainKind, (address: string, nodes: Stack['nodes']) => string | undefined>
> = {
  bitcoin: (address) => checkBitcoinAddress('regtest', address),
  evm: (address) => checkEvmAddress(address),
  solana: (address, { solana }) =>
    checkSolanaAddress({ name: 'local', usdcMint: solana?.tokens.USDC_SOL }, address),
};

/** Pays with test money for who has signed in, or has an API token: the gateway passes such requests on to here. */
export function serveTestMoney({ port, nodes, gatewayPublicKey, logger }: Faucet): Promise<Listening> {
  const app = createApp({ logger, clock: systemClock, waitsFor: async () => [] });
  const keys = readPublicKeys(gatewayPublicKey);
  invariant(keys !== undefined, 'the stack has made the key');
  const merchant = merchantOnly('sandbox', keys, systemClock);
  app.post(TEST_PAYMENTS_PATH, merchant, takesNoParameters, ...readBody, async (_req, res) =>
    send(res, await pay(nodes, contextOf(res).body)),
  );
  finishApp(app, logger);
  return listen(app, HOST, port);
}

/** The same, for what a stack has asserted by its gateway, on its own nodes. */
export const serveTestMoneyOf = (
  { nodes, settingsOf }: Pick<Stack, 'nodes' | 'settingsOf'>,
  port: number,
): Promise<Listening> =>
  serveTestMoney({
    ...{ port, nodes },
    gatewayPublicKey: settingsOf('invoices')['GATEWAY_PUBLIC_KEY'] ?? '',
    logger: createLogger('sandbox', 'warn'),
  });

async function pay(nodes: Stack['nodes'], body: unknown): Promise<Answer> {
  const read = readTestPayment(body);
  if (!read.ok) return answers.invalid(read.refusal);
  const { asset, address } = read.value;
  const { chain, decimals } = assets[asset];
  const amountMax = AMOUNTS_MAX[asset];
  if (
    amountMax === undefined ||
    !Object.entries(nodes).some(([of, node]) => of === chain && node !== undefined)
  )
    return answers.invalid({ asset: [{ message: `This sandbox has no node of ${asset}.` }] });
  if (addressChecks[chainKinds[chain]](address, nodes) === undefined)
    return answers.invalid({ address: [{ message: `The address is none that ${asset} can be sent to.` }] });
  const amount = parseUnits(read.value.amount, decimals);
  if (!amount.ok || amount.value <= 0n || amount.value > amountMax * 10n ** BigInt(decimals))
    return answers.invalid({
      amount: [
        {
          message: `The amount must be more than 0 and at most ${amountMax}, with at most ${decimals} decimals.`,
        },
      ],
    });
  try {
    const txHash = await payFromFaucet(nodes, asset, { to: address, amount: amount.value });
    const data = testPaymentView({ asset, address, amount: formatUnits(amount.value, decimals), txHash });
    return { status: 201, body: { message: 'Test money was sent.', data } };
  } catch (error) {
    throw new Unavailable(`${asset} was not paid: ${reason(error)}`, NOT_TAKEN);
  }
}
