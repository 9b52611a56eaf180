/** Makes a link: its form, then the link itself, which is shown once. */
import { type ReactElement, useState } from 'react';
import type { CreatedLink } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { ShownOnce } from '../../ui/actions.tsx';
import { LinkForm, type LinkStart } from './form.tsx';

export default function NewLink(props: { readonly start: LinkStart; readonly onClose: () => void }): ReactElement {
  const { start, onClose } = props;
  const [link, setLink] = useState<CreatedLink>();
  return link === undefined ? (
    <LinkForm start={start} onClose={onClose} onMade={setLink} />
  ) : (
    <MadeLink link={link} onClose={onClose} />
  );
}

function MadeLink({ link, onClose }: { readonly link: CreatedLink; readonly onClose: () => void }): ReactElement {
  const { made } = t.links;
  const curl = link.operation === 'upload' ? `curl -T FILE '${link.url}?filename=FILE'` : `curl -OJ '${link.url}'`;
  return (
    <ShownOnce
      {...made}
      codes={[
        { head: made.url, code: link.url, label: made.url },
        { head: made.program, code: curl, label: made.program },
      ]}
      onClose={onClose}
    />
  );
}
