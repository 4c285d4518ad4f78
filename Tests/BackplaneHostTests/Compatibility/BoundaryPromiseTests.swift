import Testing

/// The comparison of two layouts, on structs that nobody has.
struct BoundaryPromiseTests {
    private static let kept = """
        abi 0 to 1
        struct bp_ship: 24 bytes, aligned to 8
        bp_ship.size at 0, 4 bytes: uint32_t
        bp_ship.flags at 4, 4 bytes: uint32_t
        bp_ship.sail at 8, 8 bytes: void (*)(uint64_t, bp_bytes)
        bp_ship.crew at 16, 2 bytes: uint16_t
        struct bp_buoy: 8 bytes, aligned to 4, never grows
        bp_buoy.x at 0, 4 bytes: int32_t
        bp_buoy.y at 4, 4 bytes: int32_t
        constant BP_HARBOUR: 3
        function bp_signal: void (*)(bp_bytes)

        """

    private func breaches(_ change: (String) -> String) throws -> [String] {
        try BoundaryLayout(text: change(Self.kept)).breaches(of: BoundaryLayout(text: Self.kept))
    }

    /// What one line becomes, or several.
    private func breaches(_ line: String, _ changed: String) throws -> [String] {
        try breaches {
            #expect($0.contains(line))
            return $0.replacing(line, with: changed)
        }
    }

    @Test func `nothing changed is nothing broken`() throws {
        #expect(try breaches { $0 } == [])
    }

    @Test func `a field that moved is refused`() throws {
        #expect(try breaches("crew at 16", "crew at 20") == ["bp_ship.crew has moved from 16 to 20"])
    }

    @Test func `functions that changed places are refused, each`() throws {
        let swapped = try breaches {
            $0.replacing("sail at 8, 8 bytes", with: "sail at 16, 8 bytes").replacing(
                "crew at 16, 2 bytes", with: "crew at 8, 2 bytes")
        }
        #expect(swapped == ["bp_ship.sail has moved from 8 to 16", "bp_ship.crew has moved from 16 to 8"])
    }

    @Test func `a field or a struct that was removed is refused`() throws {
        #expect(try breaches("bp_ship.crew at 16, 2 bytes: uint16_t\n", "") == ["bp_ship.crew is gone"])
        let without = try breaches { text in
            text.split(separator: "\n").filter { !$0.contains("bp_buoy") }.joined(separator: "\n")
        }
        #expect(without == ["struct bp_buoy is gone"])
    }

    @Test func `a field that was renamed is gone, and another stands in its place`() throws {
        #expect(
            try breaches("bp_ship.crew", "bp_ship.sailors") == [
                "bp_ship.crew is gone", "bp_ship.sailors is new at 16, within the 24 bytes that were released",
            ])
    }

    @Test func `a field of another size or type is refused`() throws {
        #expect(
            try breaches("crew at 16, 2 bytes: uint16_t", "crew at 16, 4 bytes: uint16_t") == [
                "bp_ship.crew had 2 bytes and has 4"
            ])
        #expect(
            try breaches("flags at 4, 4 bytes: uint32_t", "flags at 4, 4 bytes: float") == [
                "bp_ship.flags was `uint32_t` and is `float`"
            ])
        #expect(
            try breaches("void (*)(uint64_t, bp_bytes)", "void (*)(uint64_t, bp_bytes, size_t)")
                == ["bp_ship.sail was `void (*)(uint64_t, bp_bytes)` and is `void (*)(uint64_t, bp_bytes, size_t)`"])
    }

    @Test func `fields at the end are allowed`() throws {
        let grown = try breaches {
            $0.replacing("bp_ship: 24 bytes", with: "bp_ship: 40 bytes").replacing(
                "uint16_t\n",
                with: "uint16_t\nbp_ship.mast at 24, 8 bytes: uint64_t\nbp_ship.anchor at 32, 8 bytes: const void *\n")
        }
        #expect(grown == [])
    }

    @Test func `a field in the middle is refused, and what it pushed aside`() throws {
        let pushed = try breaches {
            $0.replacing("bp_ship: 24 bytes", with: "bp_ship: 32 bytes").replacing(
                "bp_ship.crew at 16", with: "bp_ship.mast at 16, 8 bytes: uint64_t\nbp_ship.crew at 24")
        }
        #expect(
            pushed == [
                "bp_ship.crew has moved from 16 to 24",
                "bp_ship.mast is new at 16, within the 24 bytes that were released",
            ])
    }

    @Test func `a field in the padding is refused, since the size of the kept struct covers it`() throws {
        #expect(
            try breaches("uint16_t\n", "uint16_t\nbp_ship.mast at 20, 4 bytes: uint32_t\n") == [
                "bp_ship.mast is new at 20, within the 24 bytes that were released"
            ])
    }

    @Test func `a struct that never grows keeps its size, and the promise in its comment`() throws {
        let message = "bp_buoy never grows, and has 12 bytes for 8, or may grow"
        #expect(try breaches("bp_buoy: 8 bytes", "bp_buoy: 12 bytes") == [message])
        #expect(try breaches("bp_buoy: 8 bytes", "bp_buoy: 4 bytes") == ["bp_buoy had 8 bytes and has 4"])
        #expect(try breaches(", never grows", "") == ["bp_buoy never grows, and has 8 bytes for 8, or may grow"])
    }

    @Test func `another alignment is refused`() throws {
        #expect(
            try breaches("24 bytes, aligned to 8", "24 bytes, aligned to 16") == [
                "bp_ship was aligned to 8 and is aligned to 16"
            ])
    }

    @Test func `constants and functions stay as they are, and more of them are allowed`() throws {
        #expect(try breaches("constant BP_HARBOUR: 3", "constant BP_HARBOUR: 4") == ["BP_HARBOUR was `3` and is `4`"])
        #expect(try breaches("constant BP_HARBOUR: 3\n", "") == ["BP_HARBOUR is gone"])
        #expect(
            try breaches("function bp_signal: void (*)(bp_bytes)", "function bp_signal: int (*)(bp_bytes)") == [
                "bp_signal was `void (*)(bp_bytes)` and is `int (*)(bp_bytes)`"
            ])
        #expect(
            try breaches {
                $0
                    + "constant BP_OPEN_SEA: 4\nfunction bp_flag: void (*)(void)\nstruct bp_pier: 4 bytes, aligned to 4\n"
            } == [])
    }

    @Test func `an ABI number that was spoken is spoken on`() throws {
        #expect(try breaches("abi 0 to 1", "abi 0 to 2") == [])
        #expect(try breaches("abi 0 to 1", "abi 1 to 2") == ["ABI 0 to 1 was spoken, and now 1 to 2 is"])
        #expect(try breaches("abi 0 to 1", "abi 0 to 0") == ["ABI 0 to 1 was spoken, and now 0 to 0 is"])
    }

    @Test func `a text reads back, and one that says something else is refused`() throws {
        #expect(try BoundaryLayout(text: Self.kept).text == Self.kept)
        for line in [
            "abi 2 to 1", "struct bp_ship", "bp_lost.x at 0, 4 bytes: int32_t", "constant BP_X",
            "bp_buoy.z at -1, 4 bytes: int32_t", "?",
        ] {
            #expect(throws: BoundaryLayout.Malformed(line: line)) { try BoundaryLayout(text: Self.kept + line + "\n") }
        }
    }
}
