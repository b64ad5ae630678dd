const PAYEE = `0x${'ab'.repeat(20)}`;
const BITCOIN = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
const SOLANA = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU';

/** `field` is what `errors` names. Of a hint stands here what matters. */
export type Mistake = {
  what: string;
  send: string;
  status: number;
  field?: string;
  message: string;
  hint: string;
};

const invoice = (body: string, field: string, message: string, hint: string, what: string): Mistake => ({
  what,
  send: `POST /api/invoices ${body}`,
  status: 422,
  field,
  message,
  hint,
});
const payout = (fields: string, field: string, message: string, hint: string, what: string): Mistake => ({
  what,
  send: `POST /api/payouts {${fields}}`,
  status: 422,
  field,
  message,
  hint,
});
const listed = (query: string, field: string, message: string, hint: string, what: string): Mistake => ({
  what,
  send: `GET ${query}`,
  status: 422,
  field,
  message,
  hint,
});

const address = 'The selected address is invalid.';
const toEth = (to: string) => `"asset":"ETH","amount":1,"address":"${to}"`;
const assetRequired = 'The asset field is required.';

export const mistakes: Mistake[] = [
  invoice('', 'asset', assetRequired, 'The body is empty', 'no body'),
  invoice('{"asset":"ETH","amount":10', 'asset', assetRequired, 'line 1, column 27', 'a brace too few'),
  invoice('{"asset":"ETH","amount":10,}', 'asset', assetRequired, 'column 28', 'a comma too many'),
  invoice("{'asset':'ETH'}", 'asset', assetRequired, 'column 2', 'single quotes'),
  invoice('{"asset":ETH}', 'asset', assetRequired, 'column 10', 'a text without quotes'),
  invoice('asset=ETH&amount=10', 'asset', assetRequired, 'Send JSON instead', 'a form'),
  invoice('[{"asset":"ETH"}]', 'asset', assetRequired, 'no object', 'a list of invoices'),
  invoice(
    '{"asset":"eth","amount":10}',
    'asset',
    'The selected asset is invalid.',
    'Did you mean ETH?',
    'lower case',
  ),
  invoice(
    '{"asset":"USDC","amount":10}',
    'asset',
    'The selected asset is invalid.',
    'Did you mean USDC_ERC20?',
    'a token without its chain',
  ),
  invoice(
    '{"asset":"USDC-ERC20","amount":10}',
    'asset',
    'The selected asset is invalid.',
    'Did you mean USDC_ERC20?',
    'a hyphen',
  ),
  invoice(
    '{"asset":"DOGE","amount":10}',
    'asset',
    'The selected asset is invalid.',
    'Valid: ETH, USDC_ERC20.',
    'an unknown asset',
  ),
  invoice(
    '{"asset":"BTC","amount":10}',
    'asset',
    'The selected asset is invalid.',
    'Valid: ETH, USDC_ERC20.',
    'an asset that is not offered',
  ),
  invoice(
    '{"asset":5,"amount":10}',
    'asset',
    'The asset must be a string.',
    'in quotes: "5"',
    'the id of an asset',
  ),
  invoice(
    '{"asset":"ETH","amount":10,"currency":"EUR"}',
    'currency',
    'The selected currency is invalid.',
    'Valid: USD.',
    'another currency',
  ),
  invoice(
    '{"asset":"ETH","amount":10,"success_url":"https://x.example"}',
    'success_url',
    'The success url field is not known.',
    'Did you mean succeed_url?',
    'a name of other products',
  ),
  invoice(
    '{"asset":"ETH","amount":10,"externalId":"7"}',
    'externalId',
    'The external id field is not known.',
    'Did you mean external_id?',
    'camel case',
  ),
  invoice(
    '{"asset":"ETH","ammount":10}',
    'ammount',
    'The ammount field is not known.',
    'Did you mean amount?',
    'a typing error',
  ),
  invoice(
    '{"asset":"ETH","amount":10,"webhook":"https://x.example"}',
    'webhook',
    'The webhook field is not known.',
    'Known: asset, ',
    'a field there is not',
  ),
  invoice(
    '{"asset":"ETH","amount":"$10"}',
    'amount',
    'The amount must be a number.',
    'without a currency',
    'a currency sign',
  ),
  invoice(
    '{"asset":"ETH","amount":"10,50"}',
    'amount',
    'The amount must be a number.',
    'after a point',
    'a decimal comma',
  ),
  invoice(
    '{"asset":"ETH","amount":true}',
    'amount',
    'The amount must be a number.',
    'a JSON number',
    'a boolean as amount',
  ),
  invoice(
    '{"asset":"ETH","amount":1}',
    'amount',
    'The amount must be at least 5.',
    'US dollars: give 5 or more',
    'too little',
  ),
  invoice(
    '{"asset":"ETH","amount":10.999}',
    'amount',
    'The amount must not have more than 2 decimal places.',
    'round it',
    'a tenth of a cent',
  ),
  invoice(
    '{"asset":"ETH","amount":10,"expires_in":3600}',
    'expires_in',
    'The expires in must not be greater than 120.',
    'from 1 to 120',
    'seconds instead of minutes',
  ),
  invoice(
    '{"asset":"ETH","amount":10,"expires_in":"1h"}',
    'expires_in',
    'The expires in must be an integer.',
    'such as 30',
    'a duration as text',
  ),
  invoice(
    '{"asset":"ETH","amount":10,"external_id":7}',
    'external_id',
    'The external id must be a string.',
    'in quotes: "7"',
    'a number as reference',
  ),
  invoice(
    '{"asset":"ETH","amount":10,"succeed_url":"shop.example/thanks"}',
    'succeed_url',
    'The succeed url must be a valid URL.',
    'with http:// or https://',
    'a URL without a scheme',
  ),
  payout(
    toEth(BITCOIN),
    'address',
    address,
    'of Bitcoin, and the asset is on an EVM chain',
    'an address of Bitcoin',
  ),
  payout(
    toEth(SOLANA),
    'address',
    address,
    'of Solana, and the asset is on an EVM chain',
    'an address of Solana',
  ),
  payout(
    toEth('0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266'),
    'address',
    address,
    'EIP-55',
    'a wrong checksum',
  ),
  payout(toEth(PAYEE.slice(0, -1)), 'address', address, '39 hexadecimal digits', 'an address cut off'),
  payout(toEth(PAYEE.slice(2)), 'address', address, 'begin with 0x', 'an address without 0x'),
  payout(toEth('shop.eth'), 'address', address, 'Names are not looked up', 'a name instead of an address'),
  payout(toEth(`ethereum:${PAYEE}`), 'address', address, 'the address alone', 'a URI instead of an address'),
  payout(toEth(`0x${'0'.repeat(40)}`), 'address', address, 'Nobody has the key', 'the zero address'),
  payout(
    `"asset":"ETH","amount":1,"to_address":"${PAYEE}"`,
    'to_address',
    'The to address field is not known.',
    'Did you mean address?',
    'the name of the answer',
  ),
  payout(
    `"asset":"ETH","amount":0,"address":"${PAYEE}"`,
    'amount',
    'The amount must be at least 0.00001.',
    'Give 0.00001 or more',
    'nothing',
  ),
  {
    what: 'a payout without money',
    send: `POST /api/payouts {${toEth(PAYEE)}}`,
    status: 400,
    message: 'Insufficient balance',
    hint: '0 ETH is available and 1.0005 ETH is needed: 1 and 0.0005 network fee.',
  },
  listed(
    '/api/invoices?per_page=5',
    'per_page',
    'The per page field is not known.',
    'Did you mean perPage?',
    'snake case in a query',
  ),
  listed(
    '/api/invoices?perPage=500',
    'perPage',
    'The per page must not be greater than 100.',
    'from 1 to 100',
    'a page too long',
  ),
  listed(
    '/api/invoices?status=Paid',
    'status',
    'The selected status is invalid.',
    'Did you mean paid?',
    'a status in capitals',
  ),
  listed(
    '/api/payouts?status=completed',
    'status',
    'The selected status is invalid.',
    'Valid: pending, mined, failed.',
    'a status of other products',
  ),
  listed(
    '/api/invoices?created_from=1767225600',
    'created_from',
    'The created from is not a valid date.',
    '2026-01-01T00:00:00.000Z',
    'a Unix time',
  ),
  {
    what: 'an event that there is not',
    send: 'POST /api/webhooks {"url":"https://shop.example/hook","events":["invoice.payed"]}',
    status: 422,
    field: 'events.0',
    message: 'The selected events.0 is invalid.',
    hint: 'Did you mean invoice.paid?',
  },
  {
    what: 'a path in the singular',
    send: 'GET /api/invoice',
    status: 404,
    message: 'The route api/invoice could not be found.',
    hint: 'Check the path',
  },
  {
    what: 'PUT instead of POST',
    send: 'PUT /api/invoices',
    status: 405,
    message: 'The PUT method is not supported for this route. Supported methods: GET, HEAD, POST.',
    hint: 'Allow',
  },
];
