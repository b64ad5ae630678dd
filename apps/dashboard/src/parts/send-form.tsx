import { Alert, Button, Group, Stack } from '@mantine/core';
import { type FormValidateInput, type UseFormReturnType, useForm } from '@mantine/form';
import { IconHelpCircle } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { readAgain } from '../queries.ts';
import { useStepUp } from '../session/step-up.tsx';
import { Failure } from './failure.tsx';
import { errorsOf } from './form-errors.ts';
import { isOutcomeUnknown } from './outcome.ts';

type FormInput<Values, Answer> = {
  initialValues: Values;
  validate?: FormValidateInput<Values>;
  /** Sends what the form has, with a step-up where the API asks for one. */
  send(values: Values): Promise<Answer>;
  onDone?(answer: Answer): unknown;
  /** The lists that are read again, also when it is not known whether it was done. */
  changes?: readonly string[];
};

export type SentForm<Values> = {
  form: UseFormReturnType<Values>;
  /** The properties of the field with this name. */
  field: UseFormReturnType<Values>['getInputProps'];
  error: Error | null;
  isPending: boolean;
  submit(values: Values): void;
  reset(): void;
};

/** A form that is sent to the API. What the API says of a field is shown at the field. */
export function useSentForm<Values extends object, Answer>(
  input: FormInput<Values, Answer>,
): SentForm<Values> {
  const { initialValues, validate, send, onDone, changes = [] } = input;
  const stepUp = useStepUp();
  const form = useForm<Values>({ initialValues, ...(validate && { validate }) }) as UseFormReturnType<Values>;
  const { mutate, error, isPending, reset } = useMutation({
    mutationFn: (values: Values) => stepUp(() => send(values)),
    onSuccess: onDone,
    onError: (failure) => form.setErrors(errorsOf(failure)),
    // What went wrong is told at once, also while the lists cannot be read.
    onSettled: () => void readAgain(...changes),
  });
  return { form, field: form.getInputProps, error, isPending, submit: mutate, reset };
}

type SentFormProps<Values> = {
  sent: SentForm<Values>;
  /** What the button says. */
  button: string;
  color?: string;
  /** Where the button is; otherwise it is as wide as the form. */
  align?: 'flex-start' | 'flex-end';
  /** Another button, at its side. */
  other?: ReactNode;
  /** What to do when the answer was lost. */
  unknown?: ReactNode;
  isDisabled?: boolean;
  children: ReactNode;
};

/** The fields of a form, what is wrong, and the button that sends it. */
export function SendForm<Values>({ sent, children, ...rest }: SentFormProps<Values>) {
  const { form, error, isPending, submit } = sent;
  const { button, color, align, other, unknown, isDisabled } = rest;
  const send = (
    <Button type="submit" color={color} loading={isPending} disabled={isDisabled}>
      {button}
    </Button>
  );
  return (
    <form onSubmit={form.onSubmit((values) => submit(values))}>
      <Stack>
        {children}
        {unknown !== undefined && <UnknownOutcome error={error}>{unknown}</UnknownOutcome>}
        <FormFailure error={error} fields={Object.keys(form.values as object)} />
        {align === undefined ? (
          send
        ) : (
          <Group justify={align}>
            {align === 'flex-end' && other}
            {send}
            {align === 'flex-start' && other}
          </Group>
        )}
      </Stack>
    </form>
  );
}

/** What is wrong with what a form has sent, unless all of it is said at the fields. */
function FormFailure({ error, fields }: { error: unknown; fields: readonly string[] }) {
  const wrong = Object.keys(errorsOf(error)).map((name) => name.split('.')[0] ?? name);
  return wrong.length > 0 && wrong.every((name) => fields.includes(name)) ? null : <Failure error={error} />;
}

/** Says what is not known, and what to do, when the answer to a request was lost. */
const UnknownOutcome = ({ error, children }: { error: unknown; children: ReactNode }) =>
  isOutcomeUnknown(error) ? (
    <Alert color="yellow" icon={<IconHelpCircle />} role="status">
      {children}
    </Alert>
  ) : null;
