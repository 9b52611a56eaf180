/** The help that lists the keys. */
import type { ReactElement } from 'react';
import { t } from '../texts/texts.ts';
import { Dialog } from '../ui/dialog.tsx';
import { ALL_PLACES, DOCS, PALETTE_KEYS } from './places.ts';

export default function Help({ onClose }: { readonly onClose: () => void }): ReactElement {
  const { keyboard } = t.shell;
  return (
    <Dialog title={keyboard.title} onClose={onClose}>
      <div className="form-grid">
        <section className="stack tight">
          <h3>{keyboard.everywhere}</h3>
          <Keys keys={PALETTE_KEYS} what={t.palette.title} />
          <Keys keys="/" what={keyboard.search} />
          <Keys keys="?" what={keyboard.help} />
          {ALL_PLACES.map(({ letter, name }) => (
            <Keys key={letter} keys={`g ${letter}`} what={name} />
          ))}
        </section>
        <section className="stack tight">
          <h3>{keyboard.inFiles}</h3>
          {keyboard.files.map(([keys, what]) => (
            <Keys key={keys} keys={keys} what={what} />
          ))}
        </section>
      </div>
      <p className="hint">{keyboard.off}</p>
      <p>
        <a href={DOCS} target="_blank" rel="noreferrer">
          {t.shell.docs}
        </a>
      </p>
    </Dialog>
  );
}

function Keys({ keys, what }: { readonly keys: string; readonly what: string }): ReactElement {
  return (
    <div className="row spread">
      <span>{what}</span>
      <span className="row">
        {keys.split(' ').map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </span>
    </div>
  );
}
