export const health = {
  lead: (zone: string): string => `Whether each server was reachable on each of the last 90 days. Days are in ${zone}.`,
  noneText:
    'Once you add a connection, the gateway checks its server every minute. This page shows when it could not be reached.',
  add: 'Add a connection',
  downSince: (time: string): string => `since ${time}`,
  lookedAt: 'Checked',
  available: (part: string): string => `${part} of 90 days`,
  availableSince: (part: string, since: string): string => `${part}, monitored since ${since}`,
  dayFrom: (text: string, since: string): string => `${text}; monitored since ${since}`,
  strip: (name: string): string => `The last 90 days of ${name}`,
  day: (day: string, part: string): string => `${day}: ${part} available`,
  dayDown: (day: string, part: string, down: string): string => `${day}: ${part} available, down for ${down}`,
  dayUnknown: (day: string): string => `${day}: not checked`,
  ago: '90 days ago',
  today: 'today',
  legend: { good: 'no outage', warn: 'down for up to 1 % of the day', bad: 'down for longer', none: 'not checked' },
  certificate: (time: string): string => `Certificate expires on ${time}`,
};
