/** A menu of actions on Ariakit, opened by a button. */
import * as Ariakit from '@ariakit/react';
import type { ReactElement } from 'react';
import { Ellipsis } from './later-icons.ts';

export interface MenuEntry {
  readonly label: string;
  readonly onSelect: () => void;
  readonly isDanger?: boolean;
  /** Why it cannot be chosen. */
  readonly disabledBecause?: string | false;
}

export function Menu({ label, entries }: { label: string; entries: readonly MenuEntry[] }): ReactElement {
  return (
    <Ariakit.MenuProvider placement="bottom-end">
      <Ariakit.MenuButton className="icon-button bordered" aria-label={label}>
        <Ellipsis aria-hidden size={16} />
      </Ariakit.MenuButton>
      <Ariakit.Menu className="menu" gutter={4} portal>
        {entries.map(({ label: text, onSelect, isDanger = false, disabledBecause = false }) => (
          <Ariakit.MenuItem
            key={text}
            className={isDanger ? 'menu-item danger' : 'menu-item'}
            disabled={disabledBecause !== false}
            accessibleWhenDisabled
            {...(disabledBecause === false ? {} : { title: disabledBecause })}
            onClick={onSelect}
          >
            {text}
          </Ariakit.MenuItem>
        ))}
      </Ariakit.Menu>
    </Ariakit.MenuProvider>
  );
}
