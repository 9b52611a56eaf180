/** Who walks through folders by key finds the focus in the list of the next one, and going up on the folder left. */
interface Arrival {
  readonly place: string;
  readonly name: string;
}

let arrival: Arrival | undefined;

const placeOf = (connectionId: string, path: string | undefined): string => JSON.stringify([connectionId, path]);

export function arriveAt(connectionId: string, path: string, name: string): void {
  arrival = { place: placeOf(connectionId, path), name };
}

/** The name of the entry; undefined where nobody is on the way to this folder. */
export function arrivalIn(connectionId: string, path: string | undefined): string | undefined {
  return arrival?.place === placeOf(connectionId, path) ? arrival.name : undefined;
}

export function arrived(): void {
  arrival = undefined;
}
