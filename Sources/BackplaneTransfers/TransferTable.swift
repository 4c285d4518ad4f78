import Backplane
import BackplaneExchange
import BackplaneNetwork
import Glibc

/// The unfinished transfers of a pool, and the decisions about them.
///
/// Each function changes the table, and adds the actions that the pool has to perform to the effects.
struct TransferTable: Sendable {
    enum Wish: Sendable {
        case pause, cancel, stop
    }
    enum Outcome: Sendable {
        case downloaded(file: String, wasKept: Bool, bytes: Int64)
        case uploaded(status: Int, response: [UInt8])
        case failed(BackplaneError)
        /// The run's task was cancelled, or nothing remained to be done.
        case ended
    }
    enum Effect: Sendable {
        case start(ExactText), stop(ExactText), ended(ExactText), tell(ExactText)
    }
    struct Entry: Sendable {
        let number: Int
        var transfer: Transfer
        var state: TransferState
        var synced: Int64 = 0
        var wish: Wish?
        var isActive = false
        /// The names of header fields that were not stored and have not been supplied again.
        var missing: [String] = []
        var meter = RateMeter()
        /// Whether a run has started since the transfer was started or cancelled.
        var hasRun = false
        /// Whether the transfer's account has been signed in since the current run started.
        var hasNewAccount = false

        /// Whether the transfer is paused until its account is signed in.
        var waitsForAccount: Bool {
            state.phase == .paused && state.error?.code == .transferCredentials && missing.isEmpty
                && transfer.credential != nil
        }

        /// Returns whether another transfer with the id is the same as this one, apart from its settings and
        /// credentials.
        ///
        /// If this one has failed or was cancelled, the files may differ.
        func isSame(as other: Transfer) -> Bool {
            let mayChange = !isActive && [.failed, .cancelled].contains(state.phase)
            let (own, new) = (transfer.request, other.request)
            return own.method == new.method && own.url == new.url && transfer.target == other.target
                && (mayChange || own.body.files == new.body.files)
        }

        /// Adopts the settings, the body and the credentials of an identical transfer; a run keeps its settings and
        /// its body, and a digest or a limit is not lifted.
        mutating func take(_ other: Transfer) {
            let old = transfer
            transfer = other
            (transfer.owner, transfer.priority) = (old.owner, old.priority)
            missing = []
            if isActive {
                transfer.request.body = old.request.body
                (transfer.existing, transfer.sha256, transfer.sizeLimit) = (old.existing, old.sha256, old.sizeLimit)
            } else {
                if other.existing == .replace { transfer.existing = old.existing }
                transfer.sha256 = other.sha256 ?? old.sha256
                transfer.sizeLimit = other.sizeLimit ?? old.sizeLimit
            }
        }

        mutating func forgetBytes() { (state.bytes, synced, state.error, hasRun) = (0, 0, nil, false) }
    }

    private(set) var entries: [ExactText: Entry] = [:]
    private(set) var effects: [Effect] = []
    /// The transfers that have changed, or were removed, since they were last stored.
    private(set) var unsaved: Set<ExactText> = []
    /// The transfers that are being stored, and the ones that could not be stored.
    private var saving: Set<ExactText> = [], failed: Set<ExactText> = []
    /// The transfers with a command in progress, which remain in the table.
    private var held: Set<ExactText> = []
    private var keys: [Int: ExactText] = [:]
    /// The open transfers by their target files.
    private var targets: [ExactText: ExactText] = [:]
    private var queue: TransferQueue
    private var isStopping = false
    private var lastNumber: Int
    /// The number of the last state of any transfer.
    private var lastState: UInt64 = 0

    init(_ options: TransferOptions, lastNumber: Int) {
        queue = TransferQueue(concurrent: options.concurrent, perHost: options.concurrentPerHost)
        self.lastNumber = lastNumber
    }

    mutating func takeEffects() -> [Effect] {
        defer { effects = [] }
        return effects
    }

    // MARK: Coming and going

    /// Holds a transfer for a command; returns `false` if another command holds it.
    mutating func hold(_ key: ExactText) -> Bool { held.insert(key).inserted }

    mutating func release(_ key: ExactText) {
        held.remove(key)
        forget(key)
    }

    /// Returns whether a transfer was removed and its record may still be in the store.
    func isRemoved(_ key: ExactText) -> Bool {
        entries[key] == nil && !isStored(key)
    }

    private func isStored(_ key: ExactText) -> Bool {
        !unsaved.contains(key) && !saving.contains(key) && !failed.contains(key)
    }

    var isSettled: Bool { unsaved.isEmpty && failed.isEmpty }

    /// Starts a transfer, or resumes an identical one with the same id.
    ///
    /// - Parameter again: Whether to replace a transfer that has succeeded, or a different one that has ended.
    mutating func begin(_ transfer: Transfer, again: Bool = false) throws(BackplaneError) {
        let key = ExactText(transfer.id)
        if again, let old = entries[key], old.state.phase.isFinal,
            old.state.phase == .succeeded || !old.isSame(as: transfer)
        {
            remove(key)
        }
        guard let found = entries[key] else { return try add(transfer) }
        guard found.isSame(as: transfer) else {
            throw BackplaneError(
                .transferTaken, "another transfer has this id; remove it first, or use another id",
                at: transfer.id.shownID)
        }
        try resume(key, with: transfer)
    }

    private mutating func add(_ transfer: Transfer) throws(BackplaneError) {
        guard !isStopping else { throw BackplaneError(.hostStopped, "the pool of transfers has stopped") }
        try requireFree(transfer)
        let state = TransferState(id: transfer.id, owner: transfer.owner, isUpload: transfer.target == nil)
        insert(Entry(number: lastNumber + 1, transfer: transfer, state: state))
        wait(ExactText(transfer.id))
    }

    /// Adds a transfer from a store; if it was waiting or running, it waits again.
    mutating func restore(_ entry: Entry) {
        insert(entry)
        // The account of a transfer that waited for one may be signed in by now; otherwise it waits again.
        if entry.state.phase == .waiting || entry.waitsForAccount { wait(ExactText(entry.state.id)) }
    }

    private mutating func insert(_ entry: Entry) {
        let key = ExactText(entry.state.id)
        (entries[key], keys[entry.number]) = (entry, key)
        lastNumber = max(lastNumber, entry.number)
        claimTarget(of: key)
        tell(key)
    }

    /// Reserves the target of a transfer for it while it is open.
    private mutating func claimTarget(of key: ExactText) {
        guard let entry = entries[key], let target = entry.transfer.target.map({ ExactText($0) }) else { return }
        if !entry.state.phase.isFinal {
            targets[target] = key
        } else if targets[target] == key {
            targets[target] = nil
        }
    }

    /// Removes a transfer from the table and the store, unless it is running.
    mutating func remove(_ key: ExactText) {
        guard entries[key]?.isActive != true else { return }
        drop(key)
        unsaved.insert(key)
        effects.append(.tell(key))
    }

    /// Removes a transfer from the table if it is finished and stored.
    private mutating func forget(_ key: ExactText) {
        guard let entry = entries[key], entry.state.phase.isFinal, !entry.isActive, !held.contains(key), isStored(key)
        else { return }
        drop(key)
    }

    private mutating func drop(_ key: ExactText) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        keys[entry.number] = nil
        if entry.state.phase == .waiting { queue.remove(entry.number) }
        if let target = entry.transfer.target.map({ ExactText($0) }), targets[target] == key { targets[target] = nil }
    }

    private func requireFree(_ transfer: Transfer) throws(BackplaneError) {
        guard let target = transfer.target, let user = targets[ExactText(target)] else { return }
        if user != ExactText(transfer.id) { throw .targetTaken(target) }
    }

    // MARK: The store

    /// Takes the transfers to store, with `nil` for removed ones; ``saved(_:_:)`` must follow for each.
    mutating func takeUnsaved() -> [(ExactText, Entry?)] {
        (saving, unsaved, failed) = (unsaved.union(failed), [], [])
        return saving.map { ($0, entries[$0]) }
    }

    /// Records whether transfers are stored as they were taken.
    mutating func saved(_ keys: some Sequence<ExactText>, _ succeeded: Bool) {
        for key in keys {
            saving.remove(key)
            if succeeded { forget(key) } else { failed.insert(key) }
        }
    }

    private mutating func tell(_ key: ExactText) {
        lastState += 1
        entries[key]?.state.number = lastState
        effects.append(.tell(key))
    }

    // MARK: Commands

    /// Queues a transfer, or pauses it if its credentials are missing.
    private mutating func wait(_ key: ExactText) {
        guard let entry = entries[key] else { return }
        guard entry.missing.isEmpty else {
            entries[key]?.state.error = BackplaneError(
                .transferCredentials,
                "the transfer waits for \(entry.missing.joined(separator: ", ")), which is not stored; begin it again with the same id and request",
                at: entry.transfer.request.printableURL)
            return change(key, to: .paused)
        }
        entries[key]?.state.error = nil
        change(key, to: .waiting)
        queue.add(
            entry.number, priority: entry.transfer.priority, owner: ExactText(entry.transfer.owner),
            host: entry.transfer.request.hostName)
        startNext()
    }

    mutating func pause(_ key: ExactText) {
        guard let entry = entries[key] else { return }
        if entry.isActive {
            if entry.wish == nil { end(key, .pause) }
        } else if entry.state.phase == .waiting {
            queue.remove(entry.number)
            change(key, to: .paused)
        }
    }

    mutating func resume(_ key: ExactText, with transfer: Transfer? = nil) throws(BackplaneError) {
        guard let entry = entries[key] else { return }
        let phase = entry.state.phase
        let begins = !entry.isActive && ([.paused, .failed].contains(phase) || phase == .cancelled && transfer != nil)
        if begins { try requireFree(entry.transfer) }
        if let transfer {
            let isChecked = transfer.sha256 == nil || transfer.sha256 == entry.transfer.sha256
            guard isChecked || !entry.isActive && phase != .succeeded else {
                throw BackplaneError(
                    .transferTaken, "the transfer with this id does not check this SHA-256; remove it first",
                    at: transfer.id.shownID)
            }
            if phase != .succeeded {
                entries[key]?.take(transfer)
                unsaved.insert(key)
            }
        }
        if begins { wait(key) }
    }

    mutating func resumeWaiting(for credential: String, account: String) {
        // Another pool, which tries by itself, may have taken over the transfers by now.
        guard !isStopping else { return }
        for (key, entry) in entries
        where entry.transfer.credential == credential && (entry.transfer.account ?? "") == account {
            if entry.isActive {
                entries[key]?.hasNewAccount = true
            } else if entry.waitsForAccount {
                wait(key)
            }
        }
    }

    /// Cancels a transfer that has not succeeded; its part is removed before the state becomes `cancelled`.
    mutating func cancel(_ key: ExactText) {
        guard let entry = entries[key], entry.state.phase != .succeeded, entry.state.phase != .cancelled else { return }
        guard !entry.isActive else { return end(key, .cancel) }
        if entry.state.phase == .waiting { queue.remove(entry.number) }
        if let target = entry.transfer.target.map({ ExactText($0) }) {
            guard targets[target, default: key] == key else {
                // The part belongs to another transfer by now.
                entries[key]?.forgetBytes()
                return change(key, to: .cancelled)
            }
            targets[target] = key  // reserved until the part is removed
        }
        entries[key]?.wish = .cancel
        entries[key]?.isActive = true
        effects.append(.start(key))
    }

    /// Ends all runs; open transfers remain open for the next pool.
    mutating func stop() {
        isStopping = true
        for (key, entry) in entries where entry.isActive && entry.wish == nil { end(key, .stop) }
    }

    private mutating func end(_ key: ExactText, _ wish: Wish) {
        entries[key]?.wish = wish
        effects.append(.stop(key))
    }

    // MARK: Events

    mutating func note(_ news: TransferNews, of key: ExactText, at time: Duration) {
        guard var entry = entries[key], entry.isActive else { return }
        switch news {
        case .bytes(let bytes, let total): (entry.state.bytes, entry.state.total) = (bytes, total)
        case .synced(let bytes):
            guard entry.synced != bytes else { return }
            entries[key]?.synced = bytes
            unsaved.insert(key)
            return
        case .restarted(let reason):
            (entry.state.restart, entry.state.bytes, entry.synced) = (reason, 0, 0)
            unsaved.insert(key)
        }
        entry.meter.note(entry.state.bytes, at: time)
        entry.state.rate = entry.meter.rate
        entry.state.timeLeft = entry.state.total.flatMap { entry.meter.time(for: $0 - entry.state.bytes) }
        entries[key] = entry
        tell(key)
    }

    /// Returns the target of a cancelled download, whose part is removed before its end is recorded.
    func partToRemove(_ key: ExactText, after outcome: Outcome) -> String? {
        if case .downloaded = outcome { return nil }
        return entries[key]?.wish == .cancel ? entries[key]?.transfer.target : nil
    }

    mutating func ended(_ key: ExactText, _ outcome: Outcome) {
        guard var entry = entries[key], entry.isActive else { return }
        queue.ended(entry.number)
        effects.append(.ended(key))
        var phase: TransferState.Phase
        switch entry.wish {
        case .pause: phase = .paused
        case .cancel: phase = .cancelled
        case .stop: phase = .waiting
        case nil: phase = .failed
        }
        (entry.isActive, entry.wish, entry.meter) = (false, nil, RateMeter())
        (entry.state.rate, entry.state.timeLeft) = (nil, nil)
        switch outcome {
        case .downloaded(let file, let wasKept, let bytes):
            phase = .succeeded
            (entry.state.file, entry.state.wasKept) = (file, wasKept)
            (entry.state.bytes, entry.state.total, entry.synced) = (bytes, bytes, bytes)
        case .uploaded(let status, let response):
            (entry.state.status, entry.state.response) = (status, response)
            phase = 200..<300 ~= status ? .succeeded : .failed
            if phase == .succeeded { entry.synced = entry.state.bytes }
            if phase == .failed { entry.state.error = .status(status, valid: 200..<300, entry.transfer.request) }
        case .failed(let error) where phase == .failed:
            entry.state.error = error
            if entry.transfer.credential != nil, [.networkCredential, .networkSignIn].contains(error.code) {
                phase = .paused
                entry.state.error = .withoutAccount(entry.transfer, error)
            }
        case .ended where phase == .failed:
            entry.state.error = BackplaneError(.callCancelled, "the transfer was cancelled")
        case .failed, .ended: break
        }
        if phase == .cancelled { entry.forgetBytes() }
        entries[key] = entry
        // A run that had begun before the sign-in may have failed without the account.
        if entry.hasNewAccount, phase == .paused, entry.state.error?.code == .transferCredentials {
            wait(key)
        } else {
            change(key, to: phase)
        }
        startNext()
    }

    private mutating func change(_ key: ExactText, to phase: TransferState.Phase) {
        entries[key]?.state.phase = phase
        claimTarget(of: key)
        unsaved.insert(key)
        tell(key)
    }

    private mutating func startNext() {
        while !isStopping, let number = queue.next(), let key = keys[number], var entry = entries[key] {
            (entry.isActive, entry.hasNewAccount, entry.state.phase) = (true, false, .running)
            if entry.state.isUpload {
                if entry.hasRun { (entry.state.restart, entry.state.bytes) = (.upload, 0) }
                entry.hasRun = true
                unsaved.insert(key)  // so that a restart knows that the transfer had begun
            }
            entries[key] = entry
            effects.append(.start(key))
            tell(key)
        }
    }
}

extension BackplaneError {
    fileprivate static func withoutAccount(_ transfer: Transfer, _ cause: BackplaneError) -> BackplaneError {
        var error = BackplaneError(
            .transferCredentials,
            "the transfer waits for the account `\(transfer.account ?? "")` of the credential `\(transfer.credential ?? "")`; sign it in, or resume the transfer",
            at: transfer.request.printableURL)
        error.causes = [cause]
        return error
    }
}

extension HTTPBody {
    var files: [String] {
        (segments ?? []).compactMap { segment in if case .file(let path) = segment { path } else { nil } }
    }
}

// MARK: The parts of the table

/// The order in which waiting transfers start: by priority, and then by the owner with the fewest running transfers.
///
/// The numbers of transfers increase in the order in which they were added.
struct TransferQueue: Sendable {
    /// The waiting transfers of one owner with the same priority and host stand in one line.
    private struct Line: Hashable, Sendable {
        var priority: Int
        var owner: ExactText
        var host: String
    }
    private let concurrent: Int
    private let perHost: Int
    private var waiting: [Line: [Int]] = [:]
    private var running: [Int: Line] = [:]
    /// The number of transfers started so far, and its value at the start of each owner's latest transfer.
    private var turns = 0
    private var lastTurn: [ExactText: Int] = [:]

    init(concurrent: Int, perHost: Int) { (self.concurrent, self.perHost) = (max(1, concurrent), max(1, perHost)) }

    mutating func add(_ number: Int, priority: Int, owner: ExactText, host: String) {
        waiting[Line(priority: priority, owner: owner, host: host), default: []].append(number)
    }

    mutating func remove(_ number: Int) {
        guard let line = waiting.first(where: { $0.value.contains(number) })?.key else { return }
        waiting[line]?.removeAll { $0 == number }
        if waiting[line] == [] { waiting[line] = nil }
    }

    /// Returns the number of the next transfer to start, or `nil` if the limits permit none.
    mutating func next() -> Int? {
        guard running.count < concurrent else { return nil }
        var best: (line: Line, number: Int, rank: (Int, Int, Int, Int))?
        for (line, numbers) in waiting where running.values.count(where: { $0.host == line.host }) < perHost {
            let places = running.values.count { $0.owner == line.owner }
            let rank = (~line.priority, places, lastTurn[line.owner, default: 0], numbers[0])
            if best.map({ rank < $0.rank }) ?? true { best = (line, numbers[0], rank) }
        }
        guard let (line, number, _) = best else { return nil }
        waiting[line]?.removeFirst()
        if waiting[line] == [] { waiting[line] = nil }
        running[number] = line
        turns += 1
        lastTurn[line.owner] = turns
        return number
    }

    mutating func ended(_ number: Int) {
        running[number] = nil
        if waiting.isEmpty, running.isEmpty { lastTurn = [:] }
    }
}

/// The rate at which bytes are received or sent, smoothed over a few seconds for display.
struct RateMeter: Sendable {
    private static let window: Duration = .seconds(3)
    private static let step: Duration = .milliseconds(200)
    private var last: (bytes: Int64, time: Duration)?
    /// The number of bytes per second; `nil` until there are enough samples.
    private(set) var rate: Double?

    /// Adds a sample; a sample with an earlier time or fewer bytes than the last one resets the meter.
    mutating func note(_ bytes: Int64, at time: Duration) {
        guard let last, time >= last.time, bytes >= last.bytes else {
            self = RateMeter()
            self.last = (bytes, time)
            return
        }
        let passed = time - last.time
        guard passed >= Self.step else { return }
        let current = Double(bytes - last.bytes) / (passed / .seconds(1))
        let weight = min(1, passed / Self.window)
        rate = rate.map { $0 + (current - $0) * weight } ?? current
        self.last = (bytes, time)
    }

    /// Returns the time for a number of bytes at this rate; returns `nil` if the rate is unknown.
    func time(for bytes: Int64) -> Duration? {
        guard let rate, rate > 0, bytes >= 0 else { return nil }
        return .seconds(min(Double(bytes) / rate, 1e9))  // about thirty years
    }
}

/// A string that is compared by its bytes, as in stores, rather than by canonical equivalence.
struct ExactText: Hashable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (a: ExactText, b: ExactText) -> Bool {
        var (a, b) = (a.text, b.text)
        return a.withUTF8 { a in
            // An iterator over a string's bytes takes a hundred instructions for each.
            b.withUTF8 { b in a.count == b.count && (a.isEmpty || memcmp(a.baseAddress!, b.baseAddress!, a.count) == 0)
            }
        }
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
