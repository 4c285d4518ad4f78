/// The tables in which the loader looks up symbols, which alone determine the number of symbols.
extension ELFLoaderTables {
    /// Returns the number of dynamic symbols.
    func symbolCount() throws(ELFImage.Defect) -> UInt64 {
        let plain = if let address = dynamic[Tag.hash] { try plainHashCount(at: address) } else { nil as UInt64? }
        if let address = dynamic[Tag.gnuHash] { return try gnuHashCount(at: address) }
        guard let plain else { throw .misleading("it has no hash table of its symbols") }
        return plain
    }

    /// Returns the number of symbols according to `DT_GNU_HASH`: a header, a filter, buckets and chains.
    ///
    /// A chain consists of the hashes of consecutive symbols, the last of which is odd. The chain that begins last also
    /// ends last, so if that chain ends inside the table, all chains do.
    private func gnuHashCount(at address: UInt64) throws(ELFImage.Defect) -> UInt64 {
        let what = "the hash table of its symbols"
        let header = try UInt64(memory.bytes(at: address, 16, what).lowerBound)
        let buckets = UInt64(try reader.uint32(header)), first = UInt64(try reader.uint32(header + 4)),
            filter = UInt64(try reader.uint32(header + 8)), shift = try reader.uint32(header + 12)
        guard buckets > 0 else { throw .misleading("\(what) has no buckets") }
        guard filter > 0, filter & (filter - 1) == 0, shift < 32 else {
            throw .misleading("the filter of \(what) has \(filter) words and a shift of \(shift)")
        }
        let table = try memory.bytes(at: address + 16, filter * 8 + buckets * 4, what)
        let start = try reader.bytes.withBytes(in: table.dropFirst(Int(filter * 8)).indices) {
            bytes throws(ELFImage.Defect) in
            var last: UInt64 = 0
            for bucket in stride(from: 0, to: bytes.count, by: 4) {
                let symbol = UInt64(bytes.number(bucket, as: UInt32.self))
                guard symbol == 0 || symbol >= first else {
                    throw .misleading("bucket \(bucket / 4) of \(what) begins at symbol \(symbol), before \(first)")
                }
                last = max(last, symbol)
            }
            return last
        }
        if start == 0 { return first }
        let chains = address + 16 + filter * 8 + buckets * 4
        let chain = try memory.bytes(from: chains + (start - first) * 4, "the last chain of \(what)")
        let length = reader.bytes.withBytes(in: chain) { bytes in
            stride(from: 0, through: bytes.count - 4, by: 4).first { bytes[$0] & 1 == 1 }
        }
        guard let length else { throw .misleading("the last chain of \(what) has no end") }
        return start + UInt64(length / 4) + 1
    }

    /// Returns the number of symbols according to `DT_HASH`: buckets and chains of symbols, each of which is in one
    /// chain.
    private func plainHashCount(at address: UInt64) throws(ELFImage.Defect) -> UInt64 {
        let what = "the plain hash table of its symbols"
        let header = try UInt64(memory.bytes(at: address, 8, what).lowerBound)
        let buckets = UInt64(try reader.uint32(header)), count = UInt64(try reader.uint32(header + 4))
        guard buckets > 0 else { throw .misleading("\(what) has no buckets") }
        let table = try memory.bytes(at: address + 8, (buckets + count) * 4, what)
        try reader.bytes.withBytes(in: table) { bytes throws(ELFImage.Defect) in
            var isSeen = [Bool](repeating: false, count: Int(count))
            for bucket in 0..<Int(buckets) {
                var symbol = Int(bytes.number(bucket * 4, as: UInt32.self))
                while symbol != 0 {
                    guard symbol < isSeen.count else {
                        throw .misleading("\(what) refers to symbol \(symbol), and there are \(count)")
                    }
                    guard !isSeen[symbol] else { throw .misleading("\(what) has symbol \(symbol) twice") }
                    isSeen[symbol] = true
                    symbol = Int(bytes.number((Int(buckets) + symbol) * 4, as: UInt32.self))
                }
            }
        }
        return count
    }
}
