import { Button, Checkbox, Fieldset, Group, Input, SimpleGrid, Stack } from '@mantine/core';
import type { EventType } from '@quittance/client';
import { defaultTypes, eventGroups, eventMeanings, eventTypes } from './event-types.ts';

type Props = { value: EventType[]; onChange(types: EventType[]): void; error?: string | undefined };

/** Which events an endpoint receives, in groups, each with what it means. */
export const EventChoice = ({ value, onChange, error }: Props) => (
  <Input.Wrapper label="Events" error={error}>
    <Stack gap="xs" mt={4}>
      <Group gap="xs">
        <Button size="compact-sm" variant="default" onClick={() => onChange([...defaultTypes])}>
          What most shops need
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => onChange([...eventTypes])}>
          All
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => onChange([])}>
          None
        </Button>
      </Group>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
        {eventGroups.map(({ name, types }) => (
          <Fieldset key={name} legend={name} p="xs">
            <Stack gap={6}>
              {types.map((type) => (
                <Checkbox
                  key={type}
                  size="xs"
                  label={type}
                  description={eventMeanings[type]}
                  checked={value.includes(type)}
                  onChange={({ currentTarget: { checked } }) =>
                    onChange(checked ? [...value, type] : value.filter((other) => other !== type))
                  }
                />
              ))}
            </Stack>
          </Fieldset>
        ))}
      </SimpleGrid>
    </Stack>
  </Input.Wrapper>
);
