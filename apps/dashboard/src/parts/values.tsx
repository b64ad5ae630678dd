import {
  ActionIcon,
  Anchor,
  Badge,
  Button,
  type ButtonProps,
  Code,
  CopyButton,
  Group,
  Stack,
  Text,
  TextInput,
  type TextInputProps,
  type TextProps,
  Tooltip,
} from '@mantine/core';
import { IconCheck, IconCopy, IconExternalLink } from '@tabler/icons-react';
import { addressParts } from './address-parts.ts';
import { grouped } from './decimal.ts';
import { chainNames, chainOf } from './networks.ts';
import { isWebLink } from './web-link.ts';

/** `USDC_ERC20` is USDC on Ethereum. */
export function assetName(asset: string): string {
  const [symbol = asset, network] = asset.split('_');
  return network === undefined ? symbol : `${symbol} (${chainNames[chainOf(asset)] ?? network})`;
}

/** An amount of an asset, with all of its digits. */
export function Amount({ value, asset, ...text }: { value: string; asset: string } & TextProps) {
  return (
    <Text
      component="span"
      inherit
      // As wide as it is, but where there is little room: see Facts.
      style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: 'var(--amount-wraps, nowrap)' }}
      {...text}
    >
      {grouped(value)} {assetName(asset)}
    </Text>
  );
}

/** An amount of money as the reader writes it: `€1,234.50`. Its text has two decimals, which a number of this size keeps. */
export function fiat(value: string, currency: string): string {
  const format = new Intl.NumberFormat(undefined, { style: 'currency', currency });
  // Since ES2023 texts are formatted exactly.
  return format.format(value as Intl.StringNumericLiteral);
}

export function Fiat({ value, currency, ...text }: { value: string; currency: string } & TextProps) {
  return (
    <Text
      component="span"
      inherit
      style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' }}
      {...text}
    >
      {fiat(value, currency)}
    </Text>
  );
}

const inFull = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const short = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** A time of the API in the reader's zone; whole, with its zone, when it is pointed at. */
export function Time({ at }: { at: string | null | undefined }) {
  if (at === null || at === undefined) return <>—</>;
  const date = new Date(at);
  return (
    <Tooltip label={inFull.format(date)} events={{ hover: true, focus: true, touch: true }}>
      <time dateTime={at} style={{ whiteSpace: 'nowrap' }}>
        {short.format(date)}
      </time>
    </Tooltip>
  );
}

type Tone = 'gray' | 'blue' | 'green' | 'yellow' | 'red';

/** Of invoices, payouts, refunds, batches, unresolved funds, endpoints, deliveries and recipients of e-mails. */
const tones: Readonly<Record<string, Tone>> = {
  pending: 'blue',
  partially_paid: 'yellow',
  confirmed: 'blue',
  paid: 'green',
  expired: 'gray',
  cancelled: 'gray',
  completed: 'green',
  mined: 'green',
  sent: 'blue',
  signed: 'blue',
  dropped: 'red',
  approved: 'green',
  rejected: 'red',
  created: 'green',
  refused: 'red',
  invalid: 'red',
  unavailable: 'yellow',
  undecided: 'blue',
  succeeded: 'green',
  failed: 'red',
  claimable: 'yellow',
  voided: 'gray',
  open: 'yellow',
  accepted: 'green',
  returned: 'gray',
  returning: 'blue',
  processing: 'blue',
  active: 'green',
  deactivated: 'gray',
  enabled: 'green',
  disabled: 'red',
  waiting: 'yellow',
  failing: 'red',
  paused: 'yellow',
  delivered: 'green',
  sending: 'blue',
  exhausted: 'red',
  revoked: 'gray',
  unconfirmed: 'yellow',
  unsubscribed: 'gray',
};

/** A state in words, with a colour for those who see it. */
export const StateBadge = ({ state, label }: { state: string; label?: string }) => (
  <Badge variant="light" color={tones[state] ?? 'gray'} radius="sm" tt="none" miw="max-content">
    {label ?? state.replaceAll('_', ' ')}
  </Badge>
);

/** An address with all of its characters: what people compare first stands out. */
export function Address({ address }: { address: string }) {
  const { start, middle, end } = addressParts(address);
  return (
    <Text component="span" ff="monospace" size="sm" style={{ overflowWrap: 'anywhere' }}>
      <b>{start}</b>
      <Text component="span" inherit c="dimmed">
        {middle}
      </Text>
      <b>{end}</b>
    </Text>
  );
}

/** The same in a table. The whole one comes when it is pointed at. */
export function ShortAddress({ address }: { address: string }) {
  const { start, middle, end } = addressParts(address);
  return (
    <Tooltip label={address}>
      <Text component="span" ff="monospace" size="sm" style={{ whiteSpace: 'nowrap' }}>
        {start}
        {middle !== '' && '…'}
        {end}
      </Text>
    </Tooltip>
  );
}

/** A field that an address is typed into. */
export const AddressInput = (props: TextInputProps) => (
  <TextInput
    label="Address"
    required
    autoComplete="off"
    spellCheck={false}
    maxLength={255}
    styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
    {...props}
  />
);

type Props = { text: string; label?: string };

/** A text that is taken elsewhere: an id, an address, a secret that is shown once. */
export const Copyable = ({ text, label }: Props) => (
  <Group gap={4} wrap="nowrap">
    <Code style={{ overflowWrap: 'anywhere', whiteSpace: 'normal' }}>{text}</Code>
    <CopyIcon text={text} label={label} />
  </Group>
);

/** The same of a long one, by its ends: all of it comes when it is pointed at. */
export const Shortened = ({ text, label }: Props) => (
  <Group gap={4} wrap="nowrap">
    <Code style={{ whiteSpace: 'nowrap' }} title={text}>
      {shortened(text)}
    </Code>
    <CopyIcon text={text} label={label} tip={text} />
  </Group>
);

function CopyIcon({ text, label = 'Copy', tip = label }: Props & { tip?: string }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Tooltip
          label={copied ? 'Copied' : tip}
          multiline
          maw={320}
          style={{ overflowWrap: 'anywhere' }}
          events={{ hover: true, focus: true, touch: true }}
        >
          <ActionIcon
            variant="subtle"
            color={copied ? 'green' : 'gray'}
            // A row of a list is a link itself.
            onClick={(event) => {
              event.stopPropagation();
              copy();
            }}
            aria-label={label}
          >
            {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}

/** A button that copies a text which is not shown, or shown elsewhere. */
export const CopyTextButton = ({ text, label = 'Copy', ...button }: Props & ButtonProps) => (
  <CopyButton value={text}>
    {({ copied, copy }) => (
      <Button
        variant="default"
        leftSection={copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
        {...button}
        onClick={copy}
      >
        {copied ? 'Copied' : label}
      </Button>
    )}
  </CopyButton>
);

type HashProps = { hash: string | null; explorerUrl?: string | null };

/** A transaction of a chain: its hash to copy, and its page in a block explorer where the API knows one. */
export function TransactionHash({ hash, explorerUrl }: HashProps) {
  if (hash === null) return <>—</>;
  return (
    <Group gap={2} wrap="nowrap">
      <Shortened text={hash} label="Copy the hash of the transaction" />
      {explorerUrl && isWebLink(explorerUrl) && (
        <Anchor href={explorerUrl} target="_blank" rel="noreferrer" aria-label="Open in a block explorer">
          <IconExternalLink size={16} />
        </Anchor>
      )}
    </Group>
  );
}

const START = 8;
const END = 6;

/** A hash, an address or an id in a few characters, of which the ends are compared. */
const shortened = (text: string): string =>
  text.length <= START + END + 3 ? text : `${text.slice(0, START)}…${text.slice(-END)}`;

/** JSON as text, laid out to be read, with a button that copies it. */
export function JsonView({ value, label }: { value: unknown; label?: string }) {
  const text = JSON.stringify(value, null, 2);
  return (
    <Stack gap="xs">
      <Group justify="flex-end">
        <CopyTextButton text={text} label={label} size="compact-sm" />
      </Group>
      <Code
        block
        tabIndex={0}
        mah={480}
        style={{ overflow: 'auto', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
      >
        {text}
      </Code>
    </Stack>
  );
}
