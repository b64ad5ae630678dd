import type { Chain } from '@quittance/shared/assets';
import { ADDRESSES_DERIVED_MAX } from '@quittance/shared/commands';
import { crashPoint } from '@quittance/shared/crash';
import type { PoolSettings } from '../address-pool.ts';
import type { Ports } from '../ports.ts';
import { countPoolAddresses, nextPoolIndex, savePoolAddresses } from '../store/address-pool.ts';

/**
 * Asks the key holder for addresses before they are needed, so that invoices can be made while it is away. Any replica
 * may do it: of two that asked for the same indexes one saves them.
 * @returns how many came; 0 when there are enough
 */
export async function refillAddressPool(
  { db, bus, logger }: Pick<Ports, 'db' | 'bus' | 'logger'>,
  chain: Chain,
  { ahead, isAddress }: PoolSettings,
): Promise<number> {
  // First: what another replica saves from here on either shows in the count, or has taken this index.
  const from = await nextPoolIndex(db, chain);
  const ready = await countPoolAddresses(db, chain, ahead);
  if (ready >= ahead) return 0;
  const count = Math.min(ADDRESSES_DERIVED_MAX, ahead - ready);
  const asked = await bus.ask('addresses.derive', { chain, from, count });
  if (!asked.known) {
    throw new Error(
      `the key holder does not name addresses of ${chain} (${ready} are left): ${asked.reason}`,
    );
  }
  const { addresses } = asked.reply;
  const isGood =
    addresses.length === count && new Set(addresses).size === count && addresses.every(isAddress);
  if (!isGood) throw new Error(`the key holder named addresses of ${chain} that are none, or not ${count}`);
  crashPoint('invoices.pool_derived');
  const saved = await savePoolAddresses(db, chain, from, addresses);
  crashPoint('invoices.pool_saved');
  if (saved > 0) logger.debug({ chain, from, saved }, 'addresses are ready');
  return saved;
}
