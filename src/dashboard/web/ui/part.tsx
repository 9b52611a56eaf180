/** Parts of the page that are loaded on first use, and the fallback if one fails. */
import { Component, type ComponentType, type ReactElement, type ReactNode, useEffect, useState } from 'react';
import { loadLaterTexts, t } from '../texts/texts.ts';
import { Button, Notice, Skeleton } from './basics.tsx';
import { firstScreen } from './first-screen.ts';
import { patiently } from './patiently.ts';

interface Part<P> {
  (props: P): ReactElement;
  /** Loads the code before it is used. */
  readonly fetch: () => void;
}

/**
 * A component whose code is loaded on first use. A failed load is retried and leaves the rest of the page intact.
 * @param meanwhile drawn until the part is loaded
 * @param otherwise drawn if it cannot be loaded, by parts that the page can do without; the first screen comes before them
 */
export function part<P extends object>(
  load: () => Promise<{ readonly default: ComponentType<P> }>,
  meanwhile: ReactElement = <Skeleton />,
  otherwise?: ReactElement,
): Part<P> {
  let loaded: ComponentType<P> | undefined;
  const fetch = async (): Promise<void> => {
    if (otherwise !== undefined) await firstScreen;
    // Modules use their texts on import.
    loaded ??= (await patiently(() => loadLaterTexts().then(load))).default;
  };
  function Part(props: P): ReactElement {
    const [tries, setTries] = useState(0);
    const [state, setState] = useState<'loading' | 'there' | 'failed'>(loaded === undefined ? 'loading' : 'there');
    useEffect(() => {
      if (loaded !== undefined) return undefined;
      let isUnmounted = false;
      const update = (next: typeof state): void => {
        if (!isUnmounted) setState(next);
      };
      fetch().then(
        () => update('there'),
        () => update('failed'),
      );
      return () => {
        isUnmounted = true;
      };
    }, [tries]);
    const Loaded = loaded;
    if (Loaded !== undefined && state !== 'failed') return <Loaded {...props} />;
    if (state !== 'failed') return meanwhile;
    if (otherwise !== undefined) return otherwise;
    const again = (): void => {
      setState('loading');
      setTries(tries + 1);
    };
    return <Failed title={t.common.partFailed.title} text={t.common.partFailed.text} onAgain={again} />;
  }
  Part.fetch = () => void fetch().catch(() => undefined);
  return Part;
}

interface Caught {
  readonly error: Error | undefined;
}

/** Keeps an error in one screen from taking down the rest of the page. */
export class Boundary extends Component<{ readonly children: ReactNode }, Caught> {
  override state: Caught = { error: undefined };

  static getDerivedStateFromError(error: Error): Caught {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    const { title, text } = t.common.crashed;
    return (
      <Failed title={title} text={text} onAgain={() => this.setState({ error: undefined })}>
        <pre className="crash">{error.message}</pre>
      </Failed>
    );
  }
}

function Failed(props: {
  readonly title: string;
  readonly text: string;
  readonly onAgain: () => void;
  readonly children?: ReactNode;
}): ReactElement {
  return (
    <div className="page">
      <Notice tone="bad" title={props.title} isAlert>
        <p>{props.text}</p>
        {props.children}
        <div className="row">
          <Button onClick={props.onAgain}>{t.common.tryAgain}</Button>
          <Button variant="quiet" onClick={() => location.reload()}>
            {t.common.reloadPage}
          </Button>
        </div>
      </Notice>
    </div>
  );
}
