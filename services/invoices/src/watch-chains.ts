import { networkCheck } from '@quittance/chains/network-check';
import { checkAddress, connectReader, depositAddresses, paymentUri } from '@quittance/chains/registry';
import { type ChainSettings, configuredAssets } from '@quittance/chains/settings';
import type { Chain, ChainKind } from '@quittance/shared/assets';
import type { Db } from '@quittance/shared/db';
import type { Logger } from '@quittance/shared/logger';
import { invariant } from '@quittance/shared/result';
import { createAddressFilter } from './address-filter.ts';
import { derivedAddressPool, storedAddressPool } from './address-pool.ts';
import type { OutageLimits } from './domain/expiry-extension.ts';
import { trackingHead } from './metrics.ts';
import { unconfirmedKeys } from './operations/compare-keys.ts';
import type { WatchedChain } from './ports.ts';
import { nextAddressBlock } from './store/address-pool.ts';

const MINUTE_MS = 60_000;
/**
 * A chain that cannot be seen for longer stops the clocks of its invoices. Not less: a large block takes some seconds to
 * be read, and another replica some to take over.
 */
const OUTAGE_MS = 10_000;
/**
 * A head older than this is not the chain's: nothing expires, and no balance is looked at. A node that is always a minute or
 * two behind is followed all the same. Bitcoin's blocks come by chance: one in three years takes two hours.
 */
const STALE_MS = {
  bitcoin: 120 * MINUTE_MS,
  evm: 3 * MINUTE_MS,
  solana: 2 * MINUTE_MS,
} as const satisfies Record<ChainKind, number>;
/** When a chain seems to have made no block for longer than this, its node kept some back. */
const GAP_MS = {
  bitcoin: 120 * MINUTE_MS,
  evm: MINUTE_MS,
  solana: MINUTE_MS,
} as const satisfies Record<ChainKind, number>;
/** A block that is seen so long after its own time came late. Bitcoin's miners set theirs some minutes early now and then. */
const LATE_MS = {
  bitcoin: 10 * MINUTE_MS,
  evm: MINUTE_MS,
  solana: MINUTE_MS,
} as const satisfies Record<ChainKind, number>;
/** A node may not have for a moment what waits: when it is started anew, or hears of it again from others. */
const DROPPED_AFTER_MS = 30_000;

export type WatchingOptions = { db: Db; logger: Logger; ahead: number; scanEveryMs: number };

/** The chains that are switched on, each with its node and its addresses. */
export function watchChains(
  configured: readonly ChainSettings[],
  options: WatchingOptions,
): Map<Chain, WatchedChain> {
  return new Map(configured.map((settings) => [settings.chain, watchChain(settings, options)]));
}

function watchChain(settings: ChainSettings, options: WatchingOptions): WatchedChain {
  const { chain, kind, quietMs, startHeight } = settings;
  const { reader, headHeight } = trackingHead(connectReader(settings, { logger: options.logger }));
  return {
    chain,
    assets: new Set(configuredAssets(settings)),
    reader,
    headHeight,
    network: networkCheck(reader),
    ...addressesOf(settings, options),
    filter: createAddressFilter(chain),
    startHeight,
    quietMs,
    ...outageLimits(kind, quietMs, options.scanEveryMs),
    // The node of a development chain is alone, and what it drops nobody tells it again.
    droppedAfterMs: quietMs === undefined ? DROPPED_AFTER_MS : 0,
    uri: (asset, address, amount) => paymentUri(settings, asset, address, amount),
  };
}

/** When a chain counts as not seen. */
export const outageLimits = (
  kind: ChainKind,
  quietMs: number | undefined,
  scanEveryMs: number,
): Required<OutageLimits & Pick<WatchedChain, 'staleMs'>> => ({
  outageMs: Math.max(OUTAGE_MS, 3 * scanEveryMs),
  // A development chain makes no block while nobody asks for one.
  staleMs: quietMs === undefined ? STALE_MS[kind] : undefined,
  gapMs: quietMs === undefined ? GAP_MS[kind] : undefined,
  lateMs: quietMs === undefined ? LATE_MS[kind] : undefined,
});

function addressesOf(
  settings: ChainSettings,
  { db, logger, ahead }: WatchingOptions,
): Pick<WatchedChain, 'addresses' | 'storedPool' | 'keys'> {
  if (settings.kind === 'solana') {
    const isAddress = (text: string) => checkAddress(settings, text) === text;
    return { addresses: storedAddressPool(db, settings.chain), storedPool: { ahead, isAddress } };
  }
  const { kind, xpub } = settings;
  const derived = xpub === undefined ? undefined : depositAddresses(settings, xpub);
  invariant(derived !== undefined, `the configuration of ${settings.chain} has a public key`);
  const nextBlock = () => nextAddressBlock(db, kind);
  return {
    addresses: derivedAddressPool({ addressAt: derived.at, nextBlock, ahead, logger }),
    keys: unconfirmedKeys(settings.chain, derived.at(0)),
  };
}
