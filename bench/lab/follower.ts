/** A client that follows the event feed of an account. */
import http from 'node:http';

const ID_OF_EVENT = /^data: \{"sequence":\d+,"id":"([0-9a-f-]{36})"/;

/** `hear` gets the id of each event when its line has arrived. Resolves with the end of the stream once it is open. */
export async function follow(
  url: string,
  headers: Readonly<Record<string, string>>,
  hear: (id: string) => void,
): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const request = http.get(
      `${url}/api/events`,
      { agent: false, headers: { ...headers, Accept: 'text/event-stream' } },
      (response) => {
        if (response.statusCode !== 200) return reject(new Error(`a stream was answered ${response.statusCode}`));
        let rest = '';
        response.setEncoding('utf8').on('data', (text: string) => {
          const lines = (rest + text).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) {
            const id = ID_OF_EVENT.exec(line)?.[1];
            if (id !== undefined) hear(id);
          }
        });
        response.on('error', () => undefined);
        resolve(() => request.destroy());
      },
    );
    request.once('error', reject);
  });
}
