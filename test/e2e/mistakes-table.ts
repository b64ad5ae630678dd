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

/** What is wrong, the rest of the request, and what the hint says. */
type Row = [what: string, rest: string, hint: string];

/** Mistakes in one field of one request, which `errors` names with the same message. */
const invalid = (request: string, field: string, message: string, rows: Row[]): Mistake[] =>
  rows.map(([what, rest, hint]) => ({ what, send: `${request}${rest}`, status: 422, field, message, hint }));

const INVOICE = 'POST /api/invoices ';
const PAYOUT = 'POST /api/payouts ';
const toEth = (to: string) => `{"asset":"ETH","amount":1,"address":"${to}"}`;
const ofTen = (more: string) => `{"asset":"ETH","amount":10,${more}}`;

export const mistakes: Mistake[] = [
  ...invalid(INVOICE, 'asset', 'The asset field is required.', [
    ['no body', '', 'The body is empty'],
    ['a brace too few', '{"asset":"ETH","amount":10', 'line 1, column 27'],
    ['a comma too many', '{"asset":"ETH","amount":10,}', 'column 28'],
    ['single quotes', "{'asset':'ETH'}", 'column 2'],
    ['a text without quotes', '{"asset":ETH}', 'column 10'],
    ['a form', 'asset=ETH&amount=10', 'Send JSON instead'],
    ['a list of invoices', '[{"asset":"ETH"}]', 'send a JSON object'],
    ['a text', '"ETH"', 'send a JSON object'],
    ['no asset', '{"amount":10}', 'Valid: ETH, USDC_ERC20. Or give assets'],
  ]),
  ...invalid(INVOICE, 'asset', 'The selected asset is invalid.', [
    ['lower case', '{"asset":"eth","amount":10}', 'Did you mean ETH?'],
    ['a token without its chain', '{"asset":"USDC","amount":10}', 'Did you mean USDC_ERC20?'],
    ['a hyphen', '{"asset":"USDC-ERC20","amount":10}', 'Did you mean USDC_ERC20?'],
    ['an unknown asset', '{"asset":"DOGE","amount":10}', 'Valid: ETH, USDC_ERC20.'],
    ['an asset that is not offered', '{"asset":"BTC","amount":10}', 'Valid: ETH, USDC_ERC20.'],
  ]),
  ...invalid(INVOICE, 'asset', 'The asset must be a string.', [
    ['the id of an asset', '{"asset":5,"amount":10}', 'in quotes: "5"'],
  ]),
  ...invalid(INVOICE, 'currency', 'The selected currency is invalid.', [
    ['an unknown currency', ofTen('"currency":"SEK"'), 'Valid: USD, EUR, GBP, CHF, JPY, CAD, AUD.'],
    ['lower case', ofTen('"currency":"eur"'), 'Did you mean EUR?'],
  ]),
  ...invalid(INVOICE, 'success_url', 'The success url field is not known.', [
    ['a name of other products', ofTen('"success_url":"https://x.example"'), 'Did you mean succeed_url?'],
  ]),
  ...invalid(INVOICE, 'externalId', 'The external id field is not known.', [
    ['camel case', ofTen('"externalId":"7"'), 'Did you mean external_id?'],
  ]),
  ...invalid(INVOICE, 'ammount', 'The ammount field is not known.', [
    ['a typing error', '{"asset":"ETH","ammount":10}', 'Did you mean amount?'],
  ]),
  ...invalid(INVOICE, 'webhook', 'The webhook field is not known.', [
    ['a field there is not', ofTen('"webhook":"https://x.example"'), 'Known: asset, '],
  ]),
  ...invalid(INVOICE, 'amount', 'The amount must be a number.', [
    ['a currency sign', '{"asset":"ETH","amount":"$10"}', 'without a currency'],
    ['a decimal comma', '{"asset":"ETH","amount":"10,50"}', 'after a point'],
    ['a boolean as amount', '{"asset":"ETH","amount":true}', 'a JSON number'],
  ]),
  ...invalid(INVOICE, 'amount', 'The amount must be at least 5.', [
    ['too little', '{"asset":"ETH","amount":1}', 'US dollars: give 5 or more'],
  ]),
  ...invalid(INVOICE, 'amount', 'The amount must not have more than 2 decimal places.', [
    ['a tenth of a cent', '{"asset":"ETH","amount":10.999}', 'round it'],
  ]),
  ...invalid(INVOICE, 'amount', 'The amount must not have more than 0 decimal places.', [
    ['a part of a yen', '{"asset":"ETH","amount":1000.5,"currency":"JPY"}', 'round it'],
  ]),
  ...invalid(INVOICE, 'amount', 'The amount must be at least 4.63.', [
    ['too little in euros', '{"asset":"ETH","amount":4.62,"currency":"EUR"}', 'in EUR: give 4.63 or more'],
  ]),
  ...invalid(INVOICE, 'expires_in', 'The expires in must not be greater than 120.', [
    ['seconds instead of minutes', ofTen('"expires_in":3600'), 'from 1 to 120'],
  ]),
  ...invalid(INVOICE, 'expires_in', 'The expires in must be an integer.', [
    ['a duration as text', ofTen('"expires_in":"1h"'), 'such as 30'],
  ]),
  ...invalid(INVOICE, 'external_id', 'The external id must be a string.', [
    ['a number as reference', ofTen('"external_id":7'), 'in quotes: "7"'],
  ]),
  ...invalid(INVOICE, 'succeed_url', 'The succeed url must be a valid URL.', [
    ['a URL without a scheme', ofTen('"succeed_url":"shop.example/thanks"'), 'with http:// or https://'],
  ]),
  ...invalid(PAYOUT, 'address', 'The selected address is invalid.', [
    ['an address of Bitcoin', toEth(BITCOIN), 'of Bitcoin, and the asset is on an EVM chain'],
    ['an address of Solana', toEth(SOLANA), 'of Solana, and the asset is on an EVM chain'],
    ['a wrong checksum', toEth('0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266'), 'EIP-55'],
    ['an address cut off', toEth(PAYEE.slice(0, -1)), '39 hexadecimal digits'],
    ['an address without 0x', toEth(PAYEE.slice(2)), 'begin with 0x'],
    ['a name instead of an address', toEth('shop.eth'), 'Names are not looked up'],
    ['a URI instead of an address', toEth(`ethereum:${PAYEE}`), 'the address alone'],
    ['the zero address', toEth(`0x${'0'.repeat(40)}`), 'Nobody has the key'],
  ]),
  ...invalid(PAYOUT, 'to_address', 'The to address field is not known.', [
    ['the name of the answer', `{"asset":"ETH","amount":1,"to_address":"${PAYEE}"}`, 'Did you mean address?'],
  ]),
  ...invalid(PAYOUT, 'amount', 'The amount must be at least 0.00001.', [
    ['nothing', `{"asset":"ETH","amount":0,"address":"${PAYEE}"}`, 'Give 0.00001 or more'],
  ]),
  {
    what: 'a payout without money',
    send: `${PAYOUT}${toEth(PAYEE)}`,
    status: 400,
    message: 'Insufficient balance',
    hint: '0 ETH is available and 1.0005 ETH is needed: 1 and 0.0005 network fee.',
  },
  ...invalid('GET /api/invoices', 'per_page', 'The per page field is not known.', [
    ['snake case in a query', '?per_page=5', 'Did you mean perPage?'],
  ]),
  ...invalid('GET /api/invoices', 'perPage', 'The per page must not be greater than 100.', [
    ['a page too long', '?perPage=500', 'from 1 to 100'],
  ]),
  ...invalid('GET /api/invoices', 'status', 'The selected status is invalid.', [
    ['a status in capitals', '?status=Paid', 'Did you mean paid?'],
  ]),
  ...invalid('GET /api/payouts', 'status', 'The selected status is invalid.', [
    ['a status of other products', '?status=completed', 'Valid: pending, mined, failed.'],
  ]),
  ...invalid('GET /api/invoices', 'created_from', 'The created from is not a valid date.', [
    ['a Unix time', '?created_from=1767225600', '2026-01-01T00:00:00.000Z'],
  ]),
  ...invalid(
    'GET /api/payouts',
    'created_to',
    'The created to must be a date after or equal to created from.',
    [
      [
        'dates the wrong way round',
        '?created_from=2026-02-01&created_to=2026-01-01',
        'exchange the two dates',
      ],
    ],
  ),
  ...invalid('POST /api/webhooks ', 'events.0', 'The selected events.0 is invalid.', [
    [
      'an event that there is not',
      '{"url":"https://shop.example/hook","events":["invoice.payed"]}',
      'Did you mean invoice.paid?',
    ],
  ]),
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
