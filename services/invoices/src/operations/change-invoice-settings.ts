import type { AccountId } from '@quittance/shared/ids';
import type { Shop } from '@quittance/shared/shop-page';
import { type InvoiceSettings, settingsInForce } from '../domain/invoice-settings.ts';
import type { Ports } from '../ports.ts';
import { type SettingsChanges, saveSettings } from '../store/invoice-settings.ts';

/** Changes the given settings of an account; the others stay. @returns all of them */
export async function changeInvoiceSettings(
  { db, settings }: Pick<Ports, 'db' | 'settings'>,
  account: AccountId,
  changes: SettingsChanges,
): Promise<{ settings: InvoiceSettings; shop: Shop }> {
  const saved = await saveSettings(db, account, changes);
  return { ...saved, settings: settingsInForce(saved.settings, settings.toleranceBps) };
}
