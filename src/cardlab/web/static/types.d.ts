// The types of the pages, for the type checker only; no page loads this file.
// `Wire`: data exchanged with the server; `Page`: data used within the pages.

declare namespace Wire {
  type OptionValue = boolean | number | string;
  type Options = Record<string, OptionValue>;

  /** A piece of text, or a card or seat that it names. */
  type Part = string | { card: string } | { seat: number };

  /** Text; `parts` if it names cards or seats, or if people say it in other words. */
  interface Text {
    text: string;
    parts?: Part[];
  }

  /** An action with the cards that it names, and fields that single games add. */
  interface Action extends Text {
    id: number;
    card: string | null;
    cards?: string[];
    /** For example `play` or `draw`. */
    kind?: string;
    /** The suit or colour that it calls. */
    call?: string | null;
    /** The cells that it moves from and to. */
    from?: string;
    to?: string;
  }

  /** A move as one seat saw it; a card played face down has neither id nor card. */
  interface Move extends Omit<Action, "id"> {
    seat: number;
    id: number | null;
  }

  interface Zone {
    name: string;
    count: number;
    cards: string[];
    /** Null: the zone belongs to the table. */
    seat: number | null;
  }

  /** An entry of the log. */
  interface Entry extends Text {
    seat: number | null;
  }

  type Facts = Record<string, string | number>;

  interface Description {
    /** Null: the view of a spectator. */
    seat: number | null;
    seats: number;
    to_move: number | null;
    zones: Zone[];
    facts: Facts;
    /** Parts of the facts that name cards or seats. */
    parts: Record<string, Part[]>;
    events: Entry[];
  }

  interface Seat {
    name: string | null;
    kind: "agent" | "person" | "open";
    connected: boolean;
    open_cards: boolean;
  }

  interface Result {
    returns: number[];
    points: number[];
    words: string;
    /** Null: the cards do not come from a seed. */
    seed?: number | null;
    /** The proof of the deal; missing for records from files. */
    deal?: Proof | null;
  }

  /**
   * How the cards are dealt: from the secret numbers of all players and the server (fair), from the
   * server's number, from a seed chosen by the person who opened the table, or as a numbered deal.
   */
  interface Deal {
    kind: "fair" | "server" | "chosen" | "numbered";
    /** The hash of the server's number. */
    commitment: string | null;
    /** The hashes of the players' numbers, by seat. */
    commitments: (string | null)[];
  }

  /** The progress of a deal that waits for players. */
  interface Progress extends Deal {
    /** How many players' numbers are known. */
    shares: number;
    waiting_for: number[];
    /** Whether all hashes are known, so that numbers may be sent. */
    reveal: boolean;
  }

  /** All numbers of a deal, sent after the game. */
  interface Proof extends Deal {
    secret: string;
    /** The players' numbers, by seat. */
    shares: (string | null)[];
    /** Seats whose number the server has drawn, because their client sent none. */
    by_server: number[];
    key: string;
    /** The cards of a deck; orders are indices into this list. */
    cards: string[];
  }

  /** What a game's page consists of. */
  interface GamePage {
    /** Null: the generic one. */
    module: string | null;
    style: string | null;
    deck: string;
    /** The rules in short; empty: the summary is shown instead. */
    rules: string;
    keys: [string, string][];
    /** Whether a move may be taken back. */
    undo: boolean;
    numbered_deals: boolean;
  }

  /** A card's names, the class of its colour, and its rank where hands are sorted by it. */
  interface Card {
    name: string;
    word: string;
    paint?: string;
    rank?: number;
  }

  /** A deck: the size of its pictures and its cards; `ordered`: in the order of a sorted hand. */
  interface DeckFacts {
    name: string;
    width: number;
    height: number;
    ordered: boolean;
    cards: Record<string, Card>;
  }

  // The connection to a table: messages of the server.

  interface TableFacts {
    id: string;
    game: string;
    title: string;
    options: Options;
    deal: Deal;
    hints: boolean;
    adviser: string | null;
  }

  /** The answer of /api/tables/ID. */
  interface Table extends TableFacts {
    summary: string;
    page: GamePage;
    seats: Seat[];
    version: number;
    ply: number;
    over: Result | null;
    seed?: number | null;
  }

  interface View<Extra = {}> {
    type: "view";
    version: number;
    ply: number;
    table: TableFacts;
    seat: number | null;
    seats: Seat[];
    description: Description;
    legal: Action[] | null;
    extra: Partial<Extra>;
    move: Move | null;
    over: Result | null;
  }

  /** A table whose cards are not dealt yet. */
  interface Gathering {
    type: "gathering";
    version: number;
    table: TableFacts;
    seat: number | null;
    seats: Seat[];
    deal: Progress;
  }

  /** An action with the adviser's value. */
  interface Valued extends Action {
    value: number | null;
    shown: string | null;
  }

  /** Attention of a network: a weight for each block, action and token. */
  interface Attention {
    tokens: string[];
    weights: number[][][];
  }

  interface Advice {
    adviser: string;
    values: Valued[];
    best: number;
    unit: string | null;
    scale: [number, number] | null;
    attention: Attention | null;
  }

  interface Hint extends Advice {
    type: "hint";
    version: number;
  }

  interface Refused {
    type: "refused";
    error: string;
    /** Whether it was refused only because a move is still being saved. */
    saving?: boolean;
  }

  /** The last move is being saved; the new view comes afterwards. */
  interface Saving {
    type: "saving";
  }

  interface Thinking {
    type: "thinking";
    seat: number;
  }

  interface Solvable {
    type: "solvable";
    version: number;
    answer: boolean;
    words: string;
  }

  interface Seats {
    type: "seats";
    seats: Seat[];
  }

  type ServerMessage = View | Gathering | Hint | Refused | Saving | Thinking | Solvable | Seats;

  // The connection to a table: messages of the page.

  interface Hello {
    secret: string | null;
    name: string | null;
    /** The hash of the number that this browser contributes to a fair deal. */
    commitment: string | null;
  }

  type PlayerMessage =
    | { type: "share"; share: string }
    | { type: "act"; version: number; action: number }
    | { type: "hint"; version: number }
    | { type: "undo" }
    | { type: "solvable" };

  // The lobby.

  type Choice =
    | { kind: "bool"; allowed: boolean[]; default: boolean }
    | { kind: "range"; allowed: { from: number; to: number }; default: number }
    | { kind: "choice"; allowed: (number | string)[]; default: number | string };

  type Option = Choice & { name: string; help: string };

  interface Agent {
    spec: string;
    what: string;
    open: boolean;
    /** Empty: not measured. */
    strength: string;
    values: boolean;
    attention: boolean;
  }

  interface Game {
    name: string;
    command: string;
    title: string;
    summary: string;
    seats: [number, number];
    options: Option[];
    agents: Agent[];
    adviser: string;
    levels: { name: string; agent: string; portrait: string | null }[];
    page: GamePage;
    cards: string[];
  }

  interface NewTable {
    game: string;
    options: Options;
    seats: ({ agent: string } | { person: string | null })[];
    seed: number | null;
    hints: boolean;
    adviser: string | null;
  }

  interface SeatKey {
    seat: number;
    secret: string | null;
  }

  interface Opened {
    id: string;
    seats: SeatKey[];
  }

  // Replays.

  interface Frame {
    ply: number;
    mover: number | null;
    action: Action | null;
    description: Description;
    extra: {};
  }

  interface Replay {
    /** A record in its file format; pages send it back unchanged. */
    record: unknown;
    game: string;
    title: string;
    page: GamePage;
    seats: string[];
    frames: Frame[];
    result: Result | null;
  }

  interface MoveAdvice extends Advice {
    ply: number;
    mover: number;
    taken: number;
  }

  interface Cost {
    ply: number;
    mover: number;
    taken: Action;
    best: Action;
    cost: number;
  }

  /** A line of a review. */
  type Review =
    | { type: "progress"; ply: number; of: number }
    | { type: "move"; ply: number; of: number; cost: number | null; advice: MoveAdvice }
    | { type: "done"; of: number; worst: Cost[] }
    | { type: "error"; error: string };

  interface Recent {
    id: string;
    kind: "table" | "tournament";
    game: string;
    title: string;
    seats: string[];
    points: number[] | null;
    when: string | null;
  }

  // The leaderboard.

  interface Rating {
    agent: string;
    elo: number;
    /** Null: not enough deals; a bound that is null is infinite. */
    interval: [number | null, number | null] | null;
    rank: [number, number];
    groups: string;
  }

  interface Board {
    game: string;
    options: Options;
    tournaments: number;
    games: number;
    deals: number;
    ratings: Rating[];
  }

  interface Cell {
    agent: string;
    other: string;
    share: number;
    interval: [number, number] | null;
    games: number;
  }

  interface CrossTable {
    game: string;
    options: Options;
    tournament: string;
    ranking: string[];
    cells: Cell[];
  }

  interface Leaderboard {
    boards: Board[];
    tables: CrossTable[];
  }

  /** Scores of people against an agent, or (null) in solo games. */
  interface People {
    game: string;
    agent: string | null;
    hints: boolean;
    games: number;
    score: number;
    interval: [number, number];
  }

  // The library.

  /** x, y, and half the 95 % interval if it is known. */
  type Point = [number, number, number | null];

  interface Curve {
    name: string;
    command: string | null;
    unit: string;
    series: { title: string; points: Point[] }[];
  }

  interface Library {
    papers: { name: string; game: string; title: string }[];
    curves: Curve[];
  }

  interface Report {
    title: string;
    html: string;
  }
}

declare namespace Page {
  /** The content of an element; null, undefined and false are left out. */
  type Child = string | Node | null | undefined | false | readonly Child[];

  /** A card's picture, or its text for decks without pictures. */
  type Picture = HTMLElement | SVGElement;

  type Listeners<Element> = {
    [Name in keyof HTMLElementEventMap]?: (
      event: HTMLElementEventMap[Name] & { readonly currentTarget: Element },
    ) => unknown;
  };

  type Attribute = string | number | boolean | null | undefined;

  /** Attributes, listeners, custom properties and data of a new element. */
  interface Given<Element> {
    on?: Listeners<Element>;
    vars?: Record<string, string | number>;
    data?: Record<string, string | number>;
    [attribute: string]: Attribute | Listeners<Element> | Record<string, string | number>;
  }

  /** A button of a dialog. */
  interface Answer<Value> {
    value: Value;
    text?: string;
    look?: Child;
    label?: string;
    class?: string;
    first?: boolean;
    data?: Record<string, string | number>;
  }

  interface DialogGiven<Value> {
    class?: string;
    /** A class of the row of buttons. */
    row?: string;
    /** Called with a function that closes the dialog. */
    made?: (close: (value: Value | null) => void) => void;
  }

  /** An adviser's answer, prepared for bars and tables. */
  interface Hint {
    adviser: string;
    best: number;
    unit: string | null;
    attention: Wire.Attention | null;
    all: Wire.Valued[];
    /** Those with a value, the best first. */
    values: (Wire.Valued & { value: number })[];
    byId: Map<number, number>;
    low: number;
    high: number;
  }

  /** How a hand is sorted; `month` keeps the order of the server. */
  type Order = "suit" | "rank" | "month";

  /** A view of a table, or a position of a replay. */
  interface View<Extra = {}> {
    version: number;
    ply: number;
    table: { id: string };
    seat: number | null;
    seats: Wire.Seat[];
    description: Wire.Description;
    extra: Partial<Extra>;
    move: Wire.Move | null;
    over: Wire.Result | null;
  }

  /** The latest event of each seat. */
  type News = Map<number, Required<Wire.Text>>;

  interface Measures {
    width: number;
    narrow: boolean;
    cardWidth: number;
  }

  /** Everything that a game's page needs to draw a position. */
  interface Context<Extra = {}> extends Measures {
    view: View<Extra>;
    game: string;
    deck: string;
    /** The names of seats, `You` for the own one. */
    names: string[];
    /** The latest event of each seat; replays show it elsewhere. */
    news?: News;
    hint: Hint | null;
    order: Order;
    /** The seat at the bottom. */
    seat: number;
    /** Whether this is the view of a spectator. */
    watch: boolean;
    replay: boolean;
    /** Whether the person may move now. */
    mine: boolean;
    legal: Wire.Action[];
    /** A sentence that says whether the position can still be solved. */
    solvable: string | null;
    act: (action: number) => void;
    send: (message: Wire.PlayerMessage) => void;
    redraw: () => void;
    /** Shows that a card cannot be played. */
    refuse: ((card: string) => void) | null;
    /** Registers a function to be called when the position changes. */
    onStale: (close: () => void) => void;
  }

  /** The module of a game. */
  interface Renderer {
    order: Order;
    render(ctx: Context): Child;
    /** Handles a key; returns whether it is one of the game's. */
    key?(ctx: Context, name: string): boolean;
  }

  interface HandGiven {
    /** Whether a click on a card plays it. */
    usable?: (card: string) => boolean;
    /** Whether a card is raised. */
    lifted?: (card: string) => boolean;
    /** Keys of the cards that are picked up. */
    chosen?: Set<string>;
    /** Text for screen readers after a card's name. */
    note?: (card: string) => string;
    pick: (card: string, element: HTMLElement, key: string) => void;
    /** Called with the card under the pointer or with the focus. */
    look?: (card: string | null) => void;
    /** The actions whose values a card shows. */
    actions?: (card: string) => Wire.Action[];
  }

  /** What this browser knows of a table. */
  interface TableMemory {
    secret?: string | null;
    links?: Wire.SeatKey[];
    setup?: Wire.NewTable;
    seat?: number;
    page?: Wire.GamePage;
    /** This browser's numbers for the fair deal, by the secret of the seat. */
    numbers?: Record<string, string>;
    promised?: Promised;
    at: number;
  }

  /** The hashes of a deal when this browser first saw them; of seats only once all are known. */
  interface Promised {
    server: string | null;
    seats: (string | null)[];
  }

  /** What this browser itself knows of a deal. */
  interface DealMemory {
    number: string | null;
    promised: Promised | null;
  }

  /** A check of a deal; `ok` is null where this browser cannot make it. */
  interface Check {
    text: string;
    ok: boolean | null;
  }

  /** News from the connection to a table: a message, or a change of its state. */
  type LineNews =
    | { data: Wire.ServerMessage; state?: undefined }
    | { data?: undefined; state: "open" }
    | { data?: undefined; state: "lost" | "final"; words: string; code?: number };

  interface Line {
    send: (message: Wire.PlayerMessage) => boolean;
    again: () => void;
    close: () => void;
  }
}
