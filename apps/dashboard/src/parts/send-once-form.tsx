import { Button, Fieldset, Group, Stack } from '@mantine/core';
import { type FormValidateInput, type UseFormReturnType, useForm } from '@mantine/form';
import type { ComponentProps, ReactNode } from 'react';
import { readAgain } from '../queries.ts';
import { errorsOf } from './form-errors.ts';
import { SendFailure, useSendOnce } from './send-once.tsx';

type Props<Values, Request, Answer> = Pick<ComponentProps<typeof SendFailure>, 'what' | 'list'> & {
  initialValues: Values;
  validate: FormValidateInput<Values>;
  requestOf(values: Values): Request;
  /** Makes one attempt. */
  send(request: Request, options: { idempotencyKey: string; maxRetries: 0 }): Promise<Answer>;
  onDone(answer: Answer): unknown;
  changes: readonly string[];
  /** What the button says. */
  button: string;
  /** Takes a dialog away, which stays while something is sent. */
  onClose?(): void;
  onPending?(isPending: boolean): void;
  children(form: UseFormReturnType<Values>): ReactNode;
};

/** A form of something that must not be made twice: while it is not known whether it was made, it does not change. */
export function SendOnceForm<Values extends object, Request, Answer>(props: Props<Values, Request, Answer>) {
  const { initialValues, validate, requestOf, send: sendOne, onDone, changes, button, onClose } = props;
  const form = useForm<Values>({ initialValues, validate }) as UseFormReturnType<Values>;
  const { send, isPending, error, isUnknown } = useSendOnce(
    (request: Request, idempotencyKey) => sendOne(request, { idempotencyKey, maxRetries: 0 }),
    onDone,
  );
  const submit = (values: Values) => {
    props.onPending?.(true);
    send(requestOf(values), {
      onError: (failure) => form.setErrors(errorsOf(failure)),
      onSettled: () => {
        props.onPending?.(false);
        void readAgain(...changes);
      },
    });
  };
  return (
    <form onSubmit={form.onSubmit(submit)}>
      <Stack>
        <Fieldset variant="unstyled" disabled={isPending || isUnknown}>
          <Stack>{props.children(form)}</Stack>
        </Fieldset>
        <SendFailure error={error} isUnknown={isUnknown} what={props.what} list={props.list} />
        <Group justify="flex-end">
          {onClose !== undefined && (
            <Button variant="default" onClick={onClose} disabled={isPending}>
              Not now
            </Button>
          )}
          <Button type="submit" loading={isPending}>
            {button}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
