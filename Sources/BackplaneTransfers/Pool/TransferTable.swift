import Backplane
import BackplaneExchange
import BackplaneNetwork

/// The unfinished transfers of a pool, and the decisions about them.
///
/// Each function changes the table, and adds the actions that the pool has to perform to the effects.
struct TransferTable: Sendable {
    /// The reason why a run is to end.
    enum Wish: Sendable {
        case pause, cancel, stop
    }
    /// The end of a run.
    enum Outcome: Sendable {
        case downloaded(DownloadRun.Outcome)
        case uploaded(UploadRun.Outcome)
        case failed(BackplaneError)
        /// The run's task was cancelled, or nothing remained to be done.
        case ended
    }
    enum Effect: Sendable {
        case start(ExactText), stop(ExactText), ended(ExactText), save(ExactText), tell(ExactText)
    }
    struct Entry: Sendable {
        let number: Int
        var transfer: Transfer
        var state: TransferState
        /// The number of bytes on the disk.
        var synced: Int64 = 0
        var wish: Wish?
        var isActive = false
        /// The names of header fields that were not stored and have not been supplied again.
        var missing: [String] = []
        var meter = RateMeter()
        /// The number of changes, and of those that are stored.
        var revision = 0, savedRevision = 0
        /// A Boolean value that indicates whether the request is stored, which is written only when it changes.
        var isRequestSaved = false
        /// The number of changes of the request.
        var requestRevision = 0
        /// A Boolean value that indicates whether a run has started since the transfer was started or cancelled.
        var hasRun = false
        /// A Boolean value that indicates whether its account has been signed in since the current run started.
        var hasNewAccount = false

        /// A Boolean value that indicates whether the transfer is paused until its account is signed in.
        var waitsForAccount: Bool {
            state.phase == .paused && state.error?.code == .transferCredentials && missing.isEmpty
                && transfer.credential != nil
        }

        /// Returns whether a transfer that is begun with the id is this one, which may have other files if it has
        /// failed or was cancelled.
        func isSame(as other: Transfer) -> Bool {
            let mayChange = !isActive && [.failed, .cancelled].contains(state.phase)
            return transfer.isSame(as: other) && (mayChange || transfer.files == other.files)
        }

        /// Adopts the settings, the body and the credentials of an identical transfer; a run keeps its settings and
        /// its body.
        mutating func take(_ other: Transfer) {
            let stored = RequestForm(transfer, withBody: false), body = transfer.request.body
            switch (transfer.work, other.work) {
            case (.download(_, let path, let own), .download(let request, _, let new)):
                transfer.work = .download(request, to: path, isActive ? own : own.taking(new))
            case (.upload, .upload(var request)):
                if isActive { request.body = body }
                transfer.work = .upload(request)
            default: break  // they are not identical
            }
            (transfer.credential, transfer.account) = (other.credential, other.account)
            (transfer.sender, transfer.managers) = (other.sender, other.managers)
            missing = []
            if RequestForm(transfer, withBody: false) != stored || !transfer.request.body.isSame(as: body) {
                (isRequestSaved, requestRevision) = (false, requestRevision + 1)
            }
        }

        /// Records that nothing of the transfer remains.
        mutating func forgetBytes() { (state.bytes, synced, state.error, hasRun) = (0, 0, nil, false) }
    }

    private(set) var entries: [ExactText: Entry] = [:]
    private(set) var effects: [Effect] = []
    /// The transfers that are being read from the store: the number of readers, and how often each has left the table
    /// since the first began, after which what was read is outdated.
    private var readings: [ExactText: (readers: Int, departures: Int)] = [:]
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

    /// Returns the effects since the last call.
    mutating func takeEffects() -> [Effect] {
        defer { effects = [] }
        return effects
    }

    // MARK: Reading from the store

    /// Records that a transfer is about to be read from the store; ``endReading(_:)`` must follow.
    ///
    /// - Returns: The number to compare with ``departures(of:)`` afterwards.
    mutating func beginReading(_ key: ExactText) -> Int {
        readings[key, default: (0, 0)].readers += 1
        return departures(of: key)
    }

    mutating func endReading(_ key: ExactText) {
        readings[key]?.readers -= 1
        if readings[key]?.readers == 0 { readings[key] = nil }
    }

    /// The number of times that a transfer has left the table while it was being read.
    func departures(of key: ExactText) -> Int { readings[key]?.departures ?? 0 }

    // MARK: Coming and going

    /// Adds a new transfer.
    ///
    /// - Throws: `transfer.taken` if another open transfer downloads to the same file; `host.stopped`.
    mutating func add(_ transfer: Transfer) throws(BackplaneError) {
        guard !isStopping else { throw BackplaneError(.hostStopped, "the pool of transfers has stopped") }
        try requireFree(transfer)
        lastNumber += 1
        var isUpload = true
        if case .download = transfer.work { isUpload = false }
        let state = TransferState(id: transfer.id, owner: transfer.owner, isUpload: isUpload)
        insert(Entry(number: lastNumber, transfer: transfer, state: state))
        wait(ExactText(transfer.id))
    }

    /// Adds a transfer from a store; one that was waiting waits again.
    mutating func restore(_ form: StateForm, _ transfer: Transfer) {
        let key = ExactText(transfer.id)
        var entry = Entry(number: form.number, transfer: transfer, state: form.state(of: transfer.id))
        (entry.synced, entry.missing, entry.isRequestSaved) = (form.bytes, form.missing ?? [], true)
        entry.hasRun = form.hasRun ?? false
        lastNumber = max(lastNumber, form.number)
        insert(entry)
        // The account of a transfer that waited for one may be signed in by now; otherwise it waits again.
        if entry.state.phase == .waiting || entry.waitsForAccount { wait(key) }
    }

    private mutating func insert(_ entry: Entry) {
        let key = ExactText(entry.state.id)
        (entries[key], keys[entry.number]) = (entry, key)
        numberState(of: key)
        claimTarget(of: key)
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

    /// Removes a transfer; returns `false` if it is running.
    @discardableResult
    mutating func remove(_ key: ExactText) -> Bool {
        guard entries[key]?.isActive != true else { return false }
        // Also of one that has left before: what is being read of it is outdated.
        readings[key]?.departures += 1
        guard let entry = entries.removeValue(forKey: key) else { return true }
        keys[entry.number] = nil
        queue.remove(entry.number)
        if let target = entry.transfer.target.map({ ExactText($0) }), targets[target] == key { targets[target] = nil }
        return true
    }

    /// Records that the changes of a transfer are stored up to a revision.
    ///
    /// - Parameter request: The revision of the request, if it was stored.
    mutating func saved(_ key: ExactText, _ revision: Int, request: Int?) {
        entries[key]?.savedRevision = revision
        if let request, entries[key]?.requestRevision == request { entries[key]?.isRequestSaved = true }
    }

    /// Removes a transfer if it is finished and its last change is stored.
    mutating func forget(_ key: ExactText) {
        guard let entry = entries[key], entry.state.phase.isFinal, !entry.isActive,
            entry.savedRevision == entry.revision
        else { return }
        remove(key)
    }

    /// Notifies a transfer's watchers of its state.
    private mutating func tell(_ key: ExactText) {
        numberState(of: key)
        effects.append(.tell(key))
    }

    private mutating func numberState(of key: ExactText) {
        lastState += 1
        entries[key]?.state.number = lastState
    }

    private mutating func save(_ key: ExactText) {
        entries[key]?.revision += 1
        effects.append(.save(key))
    }

    private func requireFree(_ transfer: Transfer) throws(BackplaneError) {
        guard let target = transfer.target, let user = targets[ExactText(target)] else { return }
        if user != ExactText(transfer.id) { throw .targetTaken(target) }
    }

    // MARK: What is asked for

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

    /// Pauses a transfer that is waiting or running.
    mutating func pause(_ key: ExactText) {
        guard let entry = entries[key] else { return }
        if entry.isActive {
            if entry.wish == nil { end(key, .pause) }
        } else if entry.state.phase == .waiting {
            queue.remove(entry.number)
            change(key, to: .paused)
        }
    }

    /// Resumes a paused or failed transfer.
    ///
    /// - Parameter transfer: The transfer with its settings, body and credentials, if supplied again.
    /// - Throws: `transfer.taken` if another transfer downloads to the same file, or the transfer does not check the
    ///   digest that is supplied and can no longer adopt it.
    mutating func resume(_ key: ExactText, with transfer: Transfer? = nil) throws(BackplaneError) {
        guard let entry = entries[key] else { return }
        let phase = entry.state.phase
        let begins = !entry.isActive && ([.paused, .failed].contains(phase) || phase == .cancelled && transfer != nil)
        if begins { try requireFree(entry.transfer) }
        if let transfer {
            let hasSettings = entry.isActive || phase == .succeeded
            guard !hasSettings || entry.transfer.checks(transfer) else { throw .otherDigest(transfer.id) }
            if phase != .succeeded { entries[key]?.take(transfer) }
            if entries[key]?.isRequestSaved == false { save(key) }
        }
        if begins { wait(key) }
    }

    /// Resumes the transfers that wait for an account.
    mutating func resumeWaiting(for credential: String, account: String) {
        // Another pool may have the transfers by now; it tries by itself.
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

    /// Cancels a transfer; its part is removed before the state becomes `cancelled`.
    mutating func cancel(_ key: ExactText) {
        guard let entry = entries[key], entry.state.phase != .succeeded, entry.state.phase != .cancelled else { return }
        guard !entry.isActive else { return end(key, .cancel) }
        queue.remove(entry.number)
        if let target = entry.transfer.target.map({ ExactText($0) }) {
            guard targets[target, default: key] == key else {
                // The part belongs to another transfer by now.
                entries[key]?.forgetBytes()
                return change(key, to: .cancelled)
            }
            targets[target] = key  // for nobody else until the part is removed
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

    // MARK: What happens

    /// Handles news of a run.
    mutating func note(_ news: TransferNews, of key: ExactText, at time: Duration) {
        guard entries[key]?.isActive == true else { return }
        switch news {
        case .bytes(let bytes, let total): count(key, bytes, total, time)
        case .synced(let bytes):
            guard entries[key]?.synced != bytes else { return }
            entries[key]?.synced = bytes
            save(key)
        case .restarted(let reason):
            entries[key]?.state.restart = reason
            entries[key]?.synced = 0
            count(key, 0, entries[key]?.state.total, time)
            save(key)
        }
    }

    private mutating func count(_ key: ExactText, _ bytes: Int64, _ total: Int64?, _ time: Duration) {
        guard var entry = entries[key] else { return }
        entry.meter.note(bytes, at: time)
        (entry.state.bytes, entry.state.total) = (bytes, total)
        entry.state.rate = entry.meter.rate
        entry.state.timeLeft = total.flatMap { entry.meter.time(for: $0 - bytes) }
        entries[key] = entry
        tell(key)
    }

    /// Handles the end of a run.
    mutating func ended(_ key: ExactText, _ outcome: Outcome) {
        guard var entry = entries[key], entry.isActive else { return }
        queue.ended(entry.number)
        effects.append(.ended(key))
        let wish = entry.wish
        (entry.isActive, entry.wish, entry.meter) = (false, nil, RateMeter())
        (entry.state.rate, entry.state.timeLeft) = (nil, nil)
        var phase: TransferState.Phase
        switch outcome {
        case .downloaded(let end):
            phase = .succeeded
            (entry.state.file, entry.state.wasKept) = (end.file, end.wasKept)
            (entry.state.bytes, entry.state.total) = (end.bytes, end.bytes)
        case .uploaded(let end):
            (entry.state.status, entry.state.response) = (end.status, end.response)
            phase = 200..<300 ~= end.status ? .succeeded : .failed
            if phase == .failed {
                entry.state.error = .status(end.status, valid: 200..<300, entry.transfer.request)
            }
        case .failed(let error):
            phase = Self.phase(after: wish) ?? .failed
            if phase == .failed {
                entry.state.error = error
                if entry.transfer.credential != nil, [.networkCredential, .networkSignIn].contains(error.code) {
                    phase = .paused
                    entry.state.error = .withoutAccount(entry.transfer, error)
                }
            }
        case .ended:
            phase = Self.phase(after: wish) ?? .failed
            if phase == .failed { entry.state.error = BackplaneError(.callCancelled, "the transfer was cancelled") }
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

    private static func phase(after wish: Wish?) -> TransferState.Phase? {
        switch wish {
        case .pause: .paused
        case .cancel: .cancelled
        case .stop: .waiting
        case nil: nil
        }
    }

    private mutating func change(_ key: ExactText, to phase: TransferState.Phase) {
        entries[key]?.state.phase = phase
        claimTarget(of: key)
        save(key)
        tell(key)
    }

    private mutating func startNext() {
        while !isStopping, let number = queue.next(), let key = keys[number] {
            entries[key]?.isActive = true
            entries[key]?.hasNewAccount = false
            entries[key]?.state.phase = .running
            effects.append(.start(key))
            tell(key)
            guard entries[key]?.state.isUpload == true else { continue }
            if entries[key]?.hasRun == true {
                entries[key]?.state.restart = .upload
                entries[key]?.state.bytes = 0
            }
            entries[key]?.hasRun = true
            save(key)  // recorded, so that a restart knows that it had begun
        }
    }
}
