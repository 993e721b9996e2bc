// The types of the pages, for the type checker alone; no page loads this file.
// `Wire` is what the server and the pages send each other, `Page` what the pages hand around.

declare namespace Wire {
  type OptionValue = boolean | number | string;
  type Options = Record<string, OptionValue>;

  /** A piece of text, or a card or seat that it names. */
  type Part = string | { card: string } | { seat: number };

  /** Text; its parts are there where it names cards or seats, or is worded otherwise. */
  interface Text {
    text: string;
    parts?: Part[];
  }

  /** An action with the cards that it names; games add what they need of the rest. */
  interface Action extends Text {
    id: number;
    card: string | null;
    cards?: string[];
    /** Such as `play` or `draw`. */
    kind?: string;
    /** The suit or colour that it calls. */
    call?: string | null;
    /** The places that it goes from and to. */
    from?: string;
    to?: string;
  }

  /** A move as one seat saw it; what was laid face down has neither number nor card. */
  interface Move extends Omit<Action, "id"> {
    seat: number;
    id: number | null;
  }

  interface Zone {
    name: string;
    count: number;
    cards: string[];
    /** Null: of the table. */
    seat: number | null;
  }

  /** An entry of the log. */
  interface Entry extends Text {
    seat: number | null;
  }

  type Facts = Record<string, string | number>;

  interface Description {
    /** Null: as somebody without a seat sees the table. */
    seat: number | null;
    seats: number;
    to_move: number | null;
    zones: Zone[];
    facts: Facts;
    /** Of the facts that name cards or seats. */
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
    /** Null: no seed says what was dealt. */
    seed?: number | null;
    /** What the deal can be checked with; a record that somebody has in a file has none. */
    deal?: Proof | null;
  }

  /**
   * Where the cards come from: the numbers of all who play and of the server, the server's number,
   * a seed that whoever opened the table chose, or a numbered deal of the game.
   */
  interface Deal {
    kind: "fair" | "server" | "chosen" | "numbered";
    /** The hash of the server's number. */
    commitment: string | null;
    /** The hashes of the players' numbers, by seat. */
    commitments: (string | null)[];
  }

  /** How far a deal is for which people must be there. */
  interface Progress extends Deal {
    /** How many numbers of players are known. */
    shares: number;
    waiting_for: number[];
    /** Whether all hashes are known, so that numbers may be sent. */
    reveal: boolean;
  }

  /** All numbers of a deal, once the game is over. */
  interface Proof extends Deal {
    secret: string;
    /** The players' numbers, by seat. */
    shares: (string | null)[];
    /** Seats whose number the server has drawn, because a program sent none. */
    by_server: number[];
    key: string;
    /** The cards of a deck; orders name their places in this list. */
    cards: string[];
  }

  /** How a game's page is made. */
  interface GamePage {
    /** Null: the generic one. */
    module: string | null;
    style: string | null;
    deck: string;
    /** Empty: the summary has to do. */
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

  /** A deck: the size of its pictures, and its cards; `ordered`: as a hand is held. */
  interface DeckFacts {
    name: string;
    width: number;
    height: number;
    ordered: boolean;
    cards: Record<string, Card>;
  }

  // The line of a table: what the server says.

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

  /** An action with the adviser's value of it. */
  interface Valued extends Action {
    value: number | null;
    shown: string | null;
  }

  /** What a network looked at: a weight for each block, action and token. */
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
    /** Whether it only has to wait for the store. */
    saving?: boolean;
  }

  /** What has happened last waits for the store; it is shown once it is kept. */
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

  // The line of a table: what a page says.

  interface Hello {
    secret: string | null;
    name: string | null;
    /** The hash of the number that this browser adds to a fair deal. */
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
    /** Empty: nobody has measured it. */
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
    /** A record as `cardlab.records` writes it; pages hand it back as it is. */
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
    /** Null: too few deals; a bound that is null is infinite. */
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

  /** How people did against an agent, or (null) alone. */
  interface People {
    game: string;
    agent: string | null;
    hints: boolean;
    games: number;
    score: number;
    interval: [number, number];
  }

  // The library.

  /** Where, how much, and half of the interval if it is known. */
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
  /** What can stand in an element; null, undefined and false stand for nothing. */
  type Child = string | Node | null | undefined | false | readonly Child[];

  /** A card's picture: of a deck with pictures, or its text. */
  type Picture = HTMLElement | SVGElement;

  type Listeners<Element> = {
    [Name in keyof HTMLElementEventMap]?: (
      event: HTMLElementEventMap[Name] & { readonly currentTarget: Element },
    ) => unknown;
  };

  type Attribute = string | number | boolean | null | undefined;

  /** What an element is made with. */
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
    /** Gets what closes the dialog from elsewhere. */
    made?: (close: (value: Value | null) => void) => void;
  }

  /** An adviser's answer as bars and tables need it. */
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

  /** How a hand is sorted; a game of months keeps the order of the server. */
  type Order = "suit" | "rank" | "month";

  /** A view as it is drawn: of a table, or a position of a replay. */
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

  /** What seats did last. */
  type News = Map<number, Required<Wire.Text>>;

  interface Measures {
    width: number;
    narrow: boolean;
    cardWidth: number;
  }

  /** All that a game needs to be drawn. */
  interface Context<Extra = {}> extends Measures {
    view: View<Extra>;
    game: string;
    deck: string;
    /** What seats are called, `You` for the person's own. */
    names: string[];
    /** What seats did last, in words; a replay says it elsewhere. */
    news?: News;
    hint: Hint | null;
    order: Order;
    /** The seat at the lower side. */
    seat: number;
    /** Whether somebody without a seat looks on. */
    watch: boolean;
    replay: boolean;
    /** Whether the person is to move. */
    mine: boolean;
    legal: Wire.Action[];
    /** Whether a position can still be solved, in words. */
    solvable: string | null;
    act: (action: number) => void;
    send: (message: Wire.PlayerMessage) => void;
    redraw: () => void;
    /** Says that a card cannot be played. */
    refuse: ((card: string) => void) | null;
    /** Has something closed when the position changes. */
    onStale: (close: () => void) => void;
  }

  /** The module of a game. */
  interface Renderer {
    order: Order;
    render(ctx: Context): Child;
    /** Takes a key; says whether it was one of the game's. */
    key?(ctx: Context, name: string): boolean;
  }

  interface HandGiven {
    /** What a click takes. */
    usable?: (card: string) => boolean;
    /** What stands out. */
    lifted?: (card: string) => boolean;
    /** Keys of the cards that are picked up. */
    chosen?: Set<string>;
    /** What is said of a card after its name. */
    note?: (card: string) => string;
    pick: (card: string, element: HTMLElement, key: string) => void;
    /** Told which card has the pointer or the focus. */
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
    /** What this browser adds to a fair deal, by the secret of its seat. */
    numbers?: Record<string, string>;
    promised?: Promised;
    at: number;
  }

  /** The hashes of a deal as this browser saw them first; of seats only once all were known. */
  interface Promised {
    server: string | null;
    seats: (string | null)[];
  }

  /** What a browser knows of a deal by itself. */
  interface DealMemory {
    number: string | null;
    promised: Promised | null;
  }

  /** A sentence about a deal; `ok` is null where this browser cannot check it. */
  interface Check {
    text: string;
    ok: boolean | null;
  }

  /** What the line to a table tells: a message, or its fate. */
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
