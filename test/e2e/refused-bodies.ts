/** What a body is, and the errors that 422 names. */
type Refused = [body: string, errors: object];

const long = 'x'.repeat(256);

export const refusedInvoices: Refused[] = [
  ['', { asset: ['The asset field is required.'], amount: ['The amount field is required.'] }],
  ['{"asset":', { asset: ['The asset field is required.'], amount: ['The amount field is required.'] }],
  [
    '{"asset":"ETH","amount":10,"amount":1000}',
    { asset: ['The asset field is required.'], amount: ['The amount field is required.'] },
  ],
  ['[]', { asset: ['The asset field is required.'], amount: ['The amount field is required.'] }],
  ['{"asset":"ETH"}', { amount: ['The amount field is required.'] }],
  ['{"asset":"DOGE","amount":10}', { asset: ['The selected asset is invalid.'] }],
  ['{"asset":"BTC","amount":10}', { asset: ['The selected asset is invalid.'] }],
  ['{"asset":"eth","amount":10}', { asset: ['The selected asset is invalid.'] }],
  ['{"asset":["ETH"],"amount":10}', { asset: ['The asset must be a string.'] }],
  ['{"asset":"ETH","amount":4.99}', { amount: ['The amount must be at least 5.'] }],
  ['{"asset":"ETH","amount":0}', { amount: ['The amount must be at least 5.'] }],
  ['{"asset":"ETH","amount":-0}', { amount: ['The amount must be at least 5.'] }],
  ['{"asset":"ETH","amount":-5}', { amount: ['The amount must be at least 5.'] }],
  ['{"asset":"ETH","amount":"ten"}', { amount: ['The amount must be a number.'] }],
  ['{"asset":"ETH","amount":1e400}', { amount: ['The amount must be a number.'] }],
  ['{"asset":"ETH","amount":true}', { amount: ['The amount must be a number.'] }],
  ['{"asset":"ETH","amount":10.001}', { amount: ['The amount must not have more than 2 decimal places.'] }],
  ['{"asset":"ETH","amount":10,"expires_in":0}', { expires_in: ['The expires in must be at least 1.'] }],
  [
    '{"asset":"ETH","amount":10,"expires_in":121}',
    { expires_in: ['The expires in must not be greater than 120.'] },
  ],
  ['{"asset":"ETH","amount":10,"expires_in":1.5}', { expires_in: ['The expires in must be an integer.'] }],
  [
    `{"asset":"ETH","amount":10,"external_id":"${long}"}`,
    { external_id: ['The external id must not be greater than 255 characters.'] },
  ],
  ['{"asset":"ETH","amount":10,"external_id":5}', { external_id: ['The external id must be a string.'] }],
  [
    '{"asset":"ETH","amount":10,"succeed_url":"x"}',
    { succeed_url: ['The succeed url must be a valid URL.'] },
  ],
  [
    '{"asset":"ETH","amount":10,"timeout_url":"ftp://x/"}',
    { timeout_url: ['The timeout url must be a valid URL.'] },
  ],
];

export const PAYEE = `0x${'ab'.repeat(20)}`;

export const refusedPayouts: Refused[] = [
  [
    '{}',
    {
      asset: ['The asset field is required.'],
      amount: ['The amount field is required.'],
      address: ['The address field is required.'],
    },
  ],
  [`{"asset":"DOGE","amount":1,"address":"${PAYEE}"}`, { asset: ['The selected asset is invalid.'] }],
  [`{"asset":"ETH","amount":0,"address":"${PAYEE}"}`, { amount: ['The amount must be at least 0.00001.'] }],
  [`{"asset":"ETH","amount":-1,"address":"${PAYEE}"}`, { amount: ['The amount must be at least 0.00001.'] }],
  [
    `{"asset":"ETH","amount":1.0000000000000000001,"address":"${PAYEE}"}`,
    { amount: ['The amount must not have more than 18 decimal places.'] },
  ],
  [
    `{"asset":"USDC_ERC20","amount":1.0000001,"address":"${PAYEE}"}`,
    { amount: ['The amount must not have more than 6 decimal places.'] },
  ],
  ['{"asset":"ETH","amount":1,"address":"0x12"}', { address: ['The selected address is invalid.'] }],
  [
    // One letter's case differs from the checksum.
    '{"asset":"ETH","amount":1,"address":"0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266"}',
    { address: ['The selected address is invalid.'] },
  ],
];
