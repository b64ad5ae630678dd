import type { Chain } from '@quittance/shared/assets';
import { ADDRESSES_PER_REQUEST } from '@quittance/shared/commands';
import { failpoint } from '@quittance/shared/failpoint';
import type { PoolSettings } from '../address-pool.ts';
import type { Ports } from '../ports.ts';
import { countPoolAddresses, nextPoolIndex, savePoolAddresses } from '../store/address-pool.ts';

/**
 * Asks payouts for addresses before they are needed, so that invoices can be created while payouts is down. Any
 * replica may run it: of two that ask for the same indexes, one saves them.
 * @returns how many were added; 0 when the pool is full
 */
export async function refillAddressPool(
  { db, bus, logger }: Pick<Ports, 'db' | 'bus' | 'logger'>,
  chain: Chain,
  { ahead, isAddress }: PoolSettings,
): Promise<number> {
  // Read first: what another replica saves later either shows in the count, or has moved this index.
  const from = await nextPoolIndex(db, chain);
  const ready = await countPoolAddresses(db, chain, ahead);
  if (ready >= ahead) return 0;
  const count = Math.min(ADDRESSES_PER_REQUEST, ahead - ready);
  const asked = await bus.ask('addresses.derive', { chain, from, count });
  if (!asked.known) {
    throw new Error(`payouts does not derive addresses of ${chain} (${ready} are left): ${asked.reason}`);
  }
  const { addresses } = asked.reply;
  const isGood =
    addresses.length === count && new Set(addresses).size === count && addresses.every(isAddress);
  if (!isGood) throw new Error(`payouts returned invalid addresses of ${chain}, or not ${count}`);
  failpoint('invoices.pool_derived');
  const saved = await savePoolAddresses(db, chain, from, addresses);
  failpoint('invoices.pool_saved');
  if (saved > 0) logger.debug({ chain, from, saved }, 'addresses are ready');
  return saved;
}
