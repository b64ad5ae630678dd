import '@mantine/spotlight/styles.css';
import { Button, Kbd } from '@mantine/core';
import { Spotlight, spotlight } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { usePlaces } from './navigation.ts';

export const PageSearchButton = () => (
  <Button
    variant="default"
    size="xs"
    leftSection={<IconSearch size={14} />}
    rightSection={<Kbd size="xs">Ctrl K</Kbd>}
    onClick={spotlight.open}
    visibleFrom="sm"
  >
    Go to
  </Button>
);

/** Goes to a page by its name, or to an invoice by its id: with Ctrl K, or a slash. */
export function PageSearch() {
  const navigate = useNavigate();
  const places = usePlaces().flatMap(({ group, places: open }) => open.map((place) => ({ group, ...place })));
  return (
    <Spotlight
      shortcut={['mod + K', '/']}
      searchProps={{ placeholder: 'A page, or the id of an invoice', leftSection: <IconSearch size={18} /> }}
      nothingFound="Nothing has this name."
      highlightQuery
      scrollable
      maxHeight={400}
      filter={(query, actions) => {
        const found = /^\s*(inv_\w+)\s*$/.exec(query)?.[1];
        const named = actions.filter(
          (action) => 'label' in action && action.label?.toLowerCase().includes(query.toLowerCase().trim()),
        );
        if (found === undefined) return named;
        return [
          {
            id: found,
            label: `Invoice ${found}`,
            onClick: () => void navigate({ to: `/invoices/${found}` }),
          },
        ];
      }}
      actions={places.map(({ to, label, group, icon: PlaceIcon }) => ({
        id: to,
        label,
        description: group,
        leftSection: <PlaceIcon size={20} />,
        onClick: () => void navigate({ to }),
      }))}
    />
  );
}
