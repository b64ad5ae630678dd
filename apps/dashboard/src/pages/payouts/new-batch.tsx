import { Alert, Button, Code, FileInput, Group, List, Modal, Paper, Radio, Stack, Text } from '@mantine/core';
import { InvalidRequestError, type PayoutBatch } from '@quittance/client';
import { IconFileSpreadsheet } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { quittance } from '../../client.ts';
import { useBalances } from '../../parts/account-data.ts';
import { compare } from '../../parts/decimal.ts';
import { Empty, Loaded, Page } from '../../parts/page.tsx';
import { SendFailure, useSendOnce } from '../../parts/send-once.tsx';
import { Amount } from '../../parts/values.tsx';
import { readAgain } from '../../queries.ts';
import { useMay } from '../../session/session.ts';
import { type BatchFile, BYTES_MAX, decodeFile, errorsByLine, readBatchFile } from './batch-file.ts';
import { BatchLines } from './batch-lines.tsx';
import { type BatchNeed, BatchNeeds, needsOf } from './batch-needs.tsx';

type Mode = PayoutBatch['mode'];
type Chosen = { file: File; read: { text: string } | { problem: string } };

/** A batch from a file: what is wrong is said before anything is sent. */
export function RoutePage() {
  const mayPay = useMay('payouts:write');
  const balances = useBalances();
  return (
    <Page title="New payout batch" back={{ to: '/payout-batches', label: 'Batches' }}>
      {mayPay ? (
        <Loaded query={balances}>{(found) => <NewBatch balances={found} />}</Loaded>
      ) : (
        <Empty title="Your role does not request payouts" />
      )}
    </Page>
  );
}

type Balances = NonNullable<ReturnType<typeof useBalances>['data']>;

/** Sends the file as it was chosen. */
function useSendBatch() {
  const navigate = useNavigate();
  return useSendOnce(
    ({ csv, mode }: { csv: string; mode: Mode }, idempotencyKey) =>
      quittance.payoutBatches.createFromCsv(
        csv,
        { mode },
        { idempotencyKey, maxRetries: 0, timeoutMs: 120_000 },
      ),
    async ({ id }) => {
      void readAgain('payouts', 'payout-batches', 'balances', 'balance-transactions');
      await navigate({ to: `/payout-batches/${id}`, replace: true });
    },
  );
}

function NewBatch({ balances }: { balances: Balances }) {
  const [chosen, setChosen] = useState<Chosen>();
  const [mode, setMode] = useState<Mode>('all_or_nothing');
  const [isAsking, setAsking] = useState(false);
  const sending = useSendBatch();
  const { error, isPending, isUnknown } = sending;
  const csv = chosen !== undefined && 'text' in chosen.read ? chosen.read.text : undefined;
  const read: BatchFile | undefined =
    chosen &&
    ('problem' in chosen.read
      ? chosen.read
      : readBatchFile(
          chosen.read.text,
          balances.map(({ asset }) => asset),
        ));
  const choose = async (file: File | null) => {
    sending.forget();
    // While a file is read, what is shown and can be sent is not that of the one before.
    setChosen(undefined);
    if (file === null) return;
    const tooLarge = { problem: 'The file is larger than 64 kB: send several batches.' };
    setChosen({ file, read: file.size > BYTES_MAX ? tooLarge : decodeFile(await file.arrayBuffer()) });
  };
  const found = read !== undefined && 'lines' in read ? read : undefined;
  const needs = needsOf(found?.totals ?? [], balances);
  const refused = error instanceof InvalidRequestError ? errorsByLine(error.errors) : undefined;
  const wrong = found?.lines.filter(({ problems }) => problems.length > 0).length ?? 0;
  const isShort = needs.some(({ after }) => compare(after, '0') < 0);
  const isSendable = found !== undefined && wrong === 0 && !(isShort && mode === 'all_or_nothing');
  return (
    <Stack>
      <Paper withBorder p="md">
        <Stack>
          <FileField value={chosen?.file ?? null} onChange={choose} isDisabled={isPending || isUnknown} />
          <ModeField value={mode} onChange={setMode} isDisabled={isPending || isUnknown} />
        </Stack>
      </Paper>
      {read !== undefined && 'problem' in read && (
        <Alert color="red" title="The file cannot be read" role="alert">
          {read.problem}
        </Alert>
      )}
      {found !== undefined && (
        <>
          {wrong > 0 && (
            <Alert color="red" title={`${wrong} of ${found.lines.length} lines are wrong`} role="alert">
              Nothing is sent. Correct the file, then choose it again.
            </Alert>
          )}
          <BatchNeeds needs={needs} mode={mode} />
          <BatchLines lines={found.lines} refused={refused} />
        </>
      )}
      <SendFailure
        error={error}
        isUnknown={isUnknown}
        what="the batch was created"
        list={{ to: '/payout-batches', label: 'The list of batches' }}
      />
      {found !== undefined && (
        <Group justify="flex-end">
          <Button
            disabled={!isSendable && !isUnknown}
            loading={isPending}
            onClick={() => (isUnknown && csv !== undefined ? sending.send({ csv, mode }) : setAsking(true))}
          >
            Send {found.lines.length} payouts
          </Button>
        </Group>
      )}
      <ConfirmBatch
        isOpened={isAsking}
        mode={mode}
        needs={needs}
        onClose={() => setAsking(false)}
        onSend={() => {
          setAsking(false);
          if (csv !== undefined) sending.send({ csv, mode });
        }}
      />
    </Stack>
  );
}

type FieldProps<T> = { value: T; onChange(value: T): unknown; isDisabled: boolean };

const FileField = ({ value, onChange, isDisabled }: FieldProps<File | null>) => (
  <FileInput
    label="CSV file"
    description={
      <>
        UTF-8, with commas, 1 to 500 payouts. The first line names the columns: <Code>asset</Code>,{' '}
        <Code>amount</Code>, <Code>address</Code>, and if wanted <Code>external_id</Code> and{' '}
        <Code>metadata</Code>.
      </>
    }
    placeholder="Choose a file"
    accept=".csv,text/csv"
    leftSection={<IconFileSpreadsheet size={18} />}
    clearable
    value={value}
    onChange={(chosen) => void onChange(chosen)}
    disabled={isDisabled}
    maw={520}
  />
);

const ModeField = ({ value, onChange, isDisabled }: FieldProps<Mode>) => (
  <Radio.Group
    label="When a line cannot be paid"
    value={value}
    onChange={(mode) => onChange(mode as Mode)}
    readOnly={isDisabled}
  >
    <Stack gap="xs" mt={6}>
      <Radio
        value="all_or_nothing"
        label="Pay nothing"
        description="All lines are paid, or none. One that is wrong, or that the balance does not cover, stops the whole batch."
        disabled={isDisabled}
      />
      <Radio
        value="each"
        label="Pay the others"
        description="Each line is paid or not by itself. Afterwards the page of the batch says which ones were not."
        disabled={isDisabled}
      />
    </Stack>
  </Radio.Group>
);

type ConfirmProps = {
  isOpened: boolean;
  mode: Mode;
  needs: readonly BatchNeed[];
  onClose(): void;
  onSend(): void;
};

/** Asks once more before many payouts are sent. */
function ConfirmBatch({ isOpened, mode, needs, onClose, onSend }: ConfirmProps) {
  const count = needs.reduce((before, need) => before + need.count, 0);
  return (
    <Modal opened={isOpened} onClose={onClose} title={`Send ${count} payouts?`}>
      <Stack>
        <List size="sm">
          {needs.map(({ asset, total, count: own }) => (
            <List.Item key={asset}>
              {own} {own === 1 ? 'payout' : 'payouts'}: <Amount value={total} asset={asset} fw={600} /> with
              the network fees of now
            </List.Item>
          ))}
        </List>
        <Text size="sm">
          {mode === 'each'
            ? 'Each line is paid or not by itself.'
            : 'All lines are paid, or none when one of them cannot be.'}{' '}
          Payouts cannot be taken back once they are signed.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Back
          </Button>
          <Button onClick={onSend}>Send {count} payouts</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
