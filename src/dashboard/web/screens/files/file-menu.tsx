/** The actions on an entry or on the selection, opened by right click, the Menu key or the button of the row. */
import * as Ariakit from '@ariakit/react';
import { Fragment, useEffect, useState, type ReactElement } from 'react';
import type { FileInfo } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import type { IconComponent } from '../../ui/icons.tsx';

export interface MenuAt {
  readonly files: readonly FileInfo[];
  readonly rect: { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
  /** Gets the focus when the menu closes. */
  readonly row: HTMLElement | null;
}

export interface FileAct {
  readonly label: string;
  readonly icon?: IconComponent;
  /** The key with the same effect. */
  readonly keys?: string;
  readonly isDanger?: boolean;
  readonly run: () => void;
}

export function FileMenu(props: {
  readonly at: MenuAt | undefined;
  /** Groups of related entries. */
  readonly groups: readonly (readonly FileAct[])[];
  readonly onClose: () => void;
}): ReactElement {
  const { at, groups, onClose } = props;
  // The menu returns the focus on closing, after `at` is undefined.
  const [last, setLast] = useState(at);
  if (at !== undefined && at !== last) setLast(at);
  const menu = Ariakit.useMenuStore({
    placement: 'bottom-start',
    open: at !== undefined,
    setOpen: (isOpen) => {
      if (!isOpen) onClose();
    },
  });
  useEffect(() => {
    if (at === undefined) return;
    menu.setInitialFocus('first');
    menu.setAutoFocusOnShow(true);
  }, [at, menu]);
  return (
    <Ariakit.Menu
      store={menu}
      className="menu"
      aria-label={last?.files.length === 1 ? t.words.actionsFor(last.files[0]?.name ?? '') : t.common.selectionActions}
      getAnchorRect={() => last?.rect ?? null}
      {...(last === undefined ? {} : { finalFocus: last.row })}
      gutter={2}
      portal
      unmountOnHide
      onContextMenu={(event) => event.preventDefault()}
    >
      {/* The dialog of an action also returns the focus to the row, because the menu is gone by then. */}
      {groups
        .filter((group) => group.length > 0)
        .map((group, index) => (
          <Fragment key={group[0]?.label}>
            {index > 0 && <Ariakit.MenuSeparator className="menu-line" />}
            {group.map(({ label, icon: Icon, keys, isDanger = false, run }) => (
              <Ariakit.MenuItem
                key={label}
                className={isDanger ? 'menu-item danger' : 'menu-item'}
                onClick={() => requestAnimationFrame(run)}
              >
                {Icon !== undefined && <Icon aria-hidden size={15} />}
                <span>{label}</span>
                {keys !== undefined && <kbd aria-hidden>{keys}</kbd>}
              </Ariakit.MenuItem>
            ))}
          </Fragment>
        ))}
    </Ariakit.Menu>
  );
}
