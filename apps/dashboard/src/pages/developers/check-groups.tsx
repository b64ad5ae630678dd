import { Checkbox, Fieldset, SimpleGrid, Stack } from '@mantine/core';

type Props<T extends string> = {
  groups: Readonly<Record<string, readonly T[]>>;
  meanings: Readonly<Record<T, string>>;
  isOn(one: T): boolean;
  isDisabled?(one: T): boolean;
  onChange(one: T, isOn: boolean): void;
};

/** What may be chosen, in groups, each with what it means. */
export const CheckGroups = <T extends string>(props: Props<T>) => {
  const { groups, meanings, isOn, isDisabled, onChange } = props;
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
      {Object.entries(groups).map(([name, all]) => (
        <Fieldset key={name} legend={name} p="xs">
          <Stack gap={6}>
            {all.map((one) => (
              <Checkbox
                key={one}
                size="xs"
                label={one}
                description={meanings[one]}
                checked={isOn(one)}
                disabled={isDisabled?.(one)}
                onChange={({ currentTarget }) => onChange(one, currentTarget.checked)}
              />
            ))}
          </Stack>
        </Fieldset>
      ))}
    </SimpleGrid>
  );
};
