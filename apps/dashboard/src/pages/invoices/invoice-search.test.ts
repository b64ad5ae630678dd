import { expect, test } from '@jest/globals';
import { invoiceSearch } from './invoice-search.ts';

test('an invoice is searched by what the text is', () => {
  const hex = 'ab'.repeat(32);
  const signature =
    'SJQ6U8qKqDdMmnxj3X6Kzt6aPQjDMSnvyf5nB7cWJdKXSDuudfRRNgW1PEUSMhN8nfw6JTTcbq7V2nWBtqKwdzEk'.slice(0, 88);
  const found = {
    inv_01m8d31dg608dwkc: 'id',
    [hex]: 'tx_hash',
    [`0x${hex}`]: 'tx_hash',
    [signature]: 'tx_hash',
    '0x52908400098527886E0F7030069857D2E4169EE7': 'address',
    bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080: 'address',
    '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2': 'address',
    '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM': 'address',
    'order-1001': 'external_id_prefix',
    '1001': 'external_id_prefix',
    '01890a5d-ac96-774b-bcce-b302099a8057': 'external_id_prefix',
    '507f1f77bcf86cd799439011': 'external_id_prefix',
  };
  for (const [text, filter] of Object.entries(found))
    expect([text, Object.keys(invoiceSearch(` ${text} `))]).toEqual([text, [filter]]);
});
