import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconArrowBackUp } from '@tabler/icons-react';
import { type ComponentProps, type ReactNode, useState } from 'react';
import { readAgain } from '../queries.ts';
import { lockedModal } from './dialogs.tsx';
import { errorsOf } from './form-errors.ts';
import { SendFailure, useSendOnce } from './send-once.tsx';
import { Copyable, Time } from './values.tsx';

/** What became of money that is paid back: a payout sends it, or a customer claims it with a link. */
export type PaidBack = {
  /** Undefined: a payout sends it. Null: there is a link that cannot be shown any more. */
  link: string | null | undefined;
  until?: string | null;
  intro?: ReactNode;
  /** What is said of each of the three. */
  sent: string;
  lost: string;
  secret: string;
};

type Props<Values, Request, Answer> = Pick<ComponentProps<typeof SendFailure>, 'what' | 'list'> & {
  label: string;
  title: string;
  doneTitle: string;
  /** Whether there is something to pay back. What was begun stays open when there is nothing any more. */
  isOffered: boolean;
  first: Values;
  validate(values: Values): Record<string, ReactNode>;
  requestOf(values: Values): Request;
  send(request: Request, idempotencyKey: string): Promise<Answer>;
  /** The lists that are read again. */
  changes: readonly string[];
  fields(form: UseFormReturnType<Values>): ReactNode;
  /** All that a request comes to, and what the button says that sends it. */
  confirmation(request: Request): { shown: ReactNode; button: string };
  paidBack(answer: Answer): PaidBack;
};

/**
 * Pays money back, in two steps: the form, then all that it comes to and the one button that sends it. Then it shows what became of
 * it, which may be a claim link that is shown this once.
 */
export function TwoStepButton<Values extends object, Request, Answer>(props: Props<Values, Request, Answer>) {
  const { label, title, doneTitle, isOffered, first, validate, requestOf, send: sendOne, changes } = props;
  const [isOpen, { open, close }] = useDisclosure();
  const [confirmed, setConfirmed] = useState<Request>();
  const [done, setDone] = useState<PaidBack>();
  const form = useForm<Values>({ initialValues: first, validate }) as UseFormReturnType<Values>;
  const { send, isPending, error, isUnknown, forget } = useSendOnce(sendOne, (answer) => {
    setDone(props.paidBack(answer));
    open();
  });
  const submit = (request: Request) =>
    send(request, {
      onError: (failure) => {
        const errors = errorsOf(failure);
        form.setErrors(errors);
        if (Object.keys(errors).length > 0) setConfirmed(undefined);
      },
      onSettled: () => void readAgain(...changes),
    });
  const begin = () => {
    // What was sent and has no answer yet is shown again as it was.
    if (!isUnknown) {
      setConfirmed(undefined);
      form.setValues(first);
      form.clearErrors();
    }
    forget();
    setDone(undefined);
    open();
  };
  const failure = <SendFailure error={error} isUnknown={isUnknown} what={props.what} list={props.list} />;
  const second = confirmed === undefined ? undefined : props.confirmation(confirmed);
  return (
    <>
      {(isOffered || isUnknown || isPending) && (
        <Button variant="default" leftSection={<IconArrowBackUp size={16} />} onClick={begin}>
          {label}
        </Button>
      )}
      <Modal
        opened={isOpen}
        onClose={close}
        title={done === undefined ? title : doneTitle}
        size="lg"
        {...lockedModal(isPending || typeof done?.link === 'string')}
      >
        {done !== undefined ? (
          <Done done={done} onClose={close} />
        ) : confirmed === undefined || second === undefined ? (
          <form onSubmit={form.onSubmit((values) => setConfirmed(requestOf(values)))}>
            <Stack>
              {props.fields(form)}
              {failure}
              <Group justify="flex-end">
                <Button variant="default" onClick={close}>
                  Not now
                </Button>
                <Button type="submit">Go on</Button>
              </Group>
            </Stack>
          </form>
        ) : (
          <Stack>
            {second.shown}
            {failure}
            <Group justify="flex-end">
              <Button
                variant="default"
                onClick={() => {
                  forget();
                  setConfirmed(undefined);
                }}
                disabled={isPending || isUnknown}
              >
                Back
              </Button>
              <Button loading={isPending} onClick={() => submit(confirmed)}>
                {second.button}
              </Button>
            </Group>
          </Stack>
        )}
      </Modal>
    </>
  );
}

const Done = ({ done, onClose }: { done: PaidBack; onClose(): void }) => (
  <Stack>
    {done.intro && <Text size="sm">{done.intro}</Text>}
    {done.link === undefined && <Text size="sm">{done.sent}</Text>}
    {done.link === null && <Alert color="yellow">{done.lost}</Alert>}
    {typeof done.link === 'string' && (
      <>
        <Alert color="yellow">{done.secret}</Alert>
        <Copyable text={done.link} label="Copy the claim link" />
        {done.until && (
          <Text size="sm">
            It can be used until <Time at={done.until} />.
          </Text>
        )}
      </>
    )}
    <Button onClick={onClose}>{typeof done.link === 'string' ? 'I have kept it' : 'Close'}</Button>
  </Stack>
);
