import { freePort } from '@quittance/engines/free-port';
import { services } from '@quittance/shared/events';
import { reason } from '@quittance/shared/logger';
import { untilAddresses } from '@quittance/stack/addresses';
import { BITCOIN_PORT, bitcoinUrl, ETHEREUM_PORT } from '@quittance/stack/chain-container';
import { composeStack } from '@quittance/stack/compose-stack';
import type { Settings } from '@quittance/stack/service-settings';
import { testUsdcAddress } from '@quittance/stack/test-usdc';
import { testSettings } from './quittance.ts';
import type { StartedStack, StartOptions } from './started-stack.ts';

/*
 * The whole of Quittance as containers, by docker-compose.yml, with the nodes of Ethereum and Bitcoin and without the
 * auditor. Loaded only when that is asked for.
 */

/** The name that Docker itself resolves to the machine that it runs on, where it is asked to. */
const THIS_MACHINE = 'host.docker.internal';
const POSTGRES_PORT = 5432;
/** It need not survive a power cut. */
const HASTY = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=200'];
/** As in docker-compose.yml, whose command this one replaces. */
const ENCRYPTED = ['ssl=on', 'ssl_cert_file=/tls/server.crt', 'ssl_key_file=/tls/server.key'];

const started = services.filter((service) => service !== 'auditor');

export async function startContainerStack(wanted: StartOptions): Promise<StartedStack> {
  if (wanted.chains?.includes('solana') === true)
    throw new Error("engines: 'containers' has no node of Solana; engines: 'embedded' has");
  const ports = {
    gateway: await freePort(),
    postgres: await freePort(),
    ethereum: await freePort(),
    bitcoin: await freePort(),
  };
  const url = `http://127.0.0.1:${ports.gateway}`;
  const published = (port: number, inside: number) => `127.0.0.1:${port}:${inside}`;
  const own = testSettings({ settings: wanted.settings });
  const ofService = (environment: Settings = {}) => ({
    environment,
    extra_hosts: [`${THIS_MACHINE}:host-gateway`],
  });
  const stack = await composeStack({
    images: ['cli', 'sandbox', ...started],
    say: wanted.say,
    settings: (made) => chosen(made, wanted, { PUBLIC_URL: url, GATEWAY_PORT: `127.0.0.1:${ports.gateway}` }),
    changes: {
      ...Object.fromEntries(started.map((service) => [service, ofService(own[service])])),
      postgres: {
        command: ['postgres', ...[...HASTY, ...ENCRYPTED].flatMap((setting) => ['-c', setting])],
        ports: [published(ports.postgres, POSTGRES_PORT)],
      },
      chains: {
        environment: { BLOCK_SECONDS: String(wanted.blockEverySeconds) },
        ports: [published(ports.ethereum, ETHEREUM_PORT), published(ports.bitcoin, BITCOIN_PORT)],
      },
    },
  });
  try {
    const { POSTGRES_PASSWORD, WALLET_SEED = '', BITCOIN_RPC_URL = '' } = stack.settings;
    const adminUrl = `postgres://quittance:${POSTGRES_PASSWORD}@127.0.0.1:${ports.postgres}/quittance`;
    await stack.up({ only: [...started, 'provisioner', 'chains'] });
    await untilAddresses(adminUrl, stack.settings);
    wanted.say(`the services are up: ${url}`);
    const bitcoin = { rpc: bitcoinUrl(WALLET_SEED, '127.0.0.1', ports.bitcoin) };
    return {
      url,
      adminUrl,
      nodes: {
        ethereum: {
          rpc: `http://127.0.0.1:${ports.ethereum}`,
          tokens: { USDC_ERC20: testUsdcAddress() },
        },
        ...(BITCOIN_RPC_URL === '' ? {} : { bitcoin }),
      },
      hostSeenFromServices: THIS_MACHINE,
      stop: stack.remove,
    };
  } catch (error) {
    // What kept it from starting is what matters.
    await stack.remove().catch((left: unknown) => wanted.say(reason(left)));
    throw error;
  }
}

/** The sandbox's settings, with the chains and the confirmations that are wanted. */
function chosen(made: Settings, { chains, confirmations }: StartOptions, own: Settings): Settings {
  const hasBitcoin = chains === undefined || chains.includes('bitcoin');
  const assets = (made['ASSETS_ACTIVE'] ?? '').split(',').filter((asset) => asset !== 'BTC' || hasBitcoin);
  return {
    ...own,
    ...(hasBitcoin ? {} : { BITCOIN_RPC_URL: '' }),
    ASSETS_ACTIVE: assets.join(','),
    MIN_CONFIRMATIONS: assets.map((asset) => `${asset}=${confirmations}`).join(','),
    QUOTES_EVERY_MS: '1000',
    // It has no auditor.
    RECONCILED_WITHIN_SECONDS: '0',
  };
}
